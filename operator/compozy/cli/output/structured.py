"""JSON and YAML on stdout, with nothing in them that a terminal would obey."""

import json
import re
from typing import Any

from compozy.language.json_text import readable_json

_CONTROL = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def to_json(value: Any, *, indented: bool = True) -> str:
    """JSON. Characters that steer a terminal are written as escapes, which means the same."""
    text = readable_json(value) if indented else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def to_yaml(value: Any) -> str:
    """YAML with the keys in the order of the value."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=True, width=110)
    return text
