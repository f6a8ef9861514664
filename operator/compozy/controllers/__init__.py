"""The operator: kopf handlers, the Kubernetes store and what joins them to the pure core. Thin."""
