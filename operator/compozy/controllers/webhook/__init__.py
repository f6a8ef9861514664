"""The webhook for answers: an HTTPS server in the operator's process, and where its certificates come from."""
