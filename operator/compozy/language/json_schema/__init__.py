"""A JSON Schema of plan files, for editors: made of the same tables of the grammar that formatting uses."""
