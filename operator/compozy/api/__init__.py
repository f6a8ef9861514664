"""The kinds of the API group `compozy.dev`, as pydantic models. The CRDs are generated from them."""
