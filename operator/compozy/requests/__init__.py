"""The life of a question: opened, answered, expired or canceled; who may answer; what may be shown."""
