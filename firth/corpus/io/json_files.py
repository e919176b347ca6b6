"""JSON files on any of Beam's file systems."""

import json
from typing import Any

from apache_beam.io.filesystems import FileSystems


def write_json(path: str, value: Any) -> None:
    """Writes a value, indented, in place of what may stand at the path."""
    with FileSystems.create(path) as file:
        file.write(json.dumps(value, indent=2).encode("utf-8"))


def read_json(path: str) -> Any:
    """Returns the value at a path, or None if there is no such file."""
    if not FileSystems.exists(path):
        return None
    with FileSystems.open(path) as file:
        return json.loads(file.read())
