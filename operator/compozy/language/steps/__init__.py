"""The steps dialect: mustache-like templates with typed splice, and `{value, op, to}` gates."""
