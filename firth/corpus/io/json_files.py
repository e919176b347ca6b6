"""JSON files on any of Beam's file systems."""

import json
from typing import Any

from apache_beam.io.filesystems import FileSystems


def write_json(path: str, value: Any) -> None:
    """Writes a value as indented JSON in UTF-8, and replaces the file if there is one.

    Args:
        path: Path of the file on any of Beam's file systems.
        value: Any value that `json.dumps` accepts.
    """
    with FileSystems.create(path) as file:
        file.write(json.dumps(value, indent=2).encode("utf-8"))


def read_json(path: str) -> Any:
    """Returns the value of a JSON file, or None if there is no such file.

    Args:
        path: Path of the file on any of Beam's file systems.
    """
    if not FileSystems.exists(path):
        return None
    with FileSystems.open(path) as file:
        return json.loads(file.read())
