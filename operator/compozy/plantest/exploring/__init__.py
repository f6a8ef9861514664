"""Every path that answers can open: answers from schemas, runs from answers, faults from runs."""
