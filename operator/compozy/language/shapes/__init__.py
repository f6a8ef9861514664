"""How values are held to JSON Schema 2020-12: bounds, patterns, formats, evaluation and its messages.

`compozy.language.schema` is the public face. What imports `jsonschema` here is slow to import (0.15 s), so
the face imports it only when a schema is first used.
"""
