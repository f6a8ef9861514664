"""Compozy for Kubernetes: plans that stop and ask a person, as custom resources."""
