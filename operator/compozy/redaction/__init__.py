"""Taking secrets out of text: what one looks like, and where it is replaced. Pure; it knows nothing of plans."""
