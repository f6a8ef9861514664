"""The graph dialect: Go templates for values and CEL for conditions."""
