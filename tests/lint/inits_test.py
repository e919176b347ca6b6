"""Other styles of `__init__.py`."""

import pytest

from scripts.lint.inits import faults
from scripts.lint.sources import repository_of


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import os\n", "1: no docstring"),
        ('"""P."""\n\nfrom a import b\n', "3: imports without __all__"),
        ('"""P."""\n\nlimit = 3\n', "3: limit is not a table in capitals"),
        ('"""P."""\n\ndef f(): ...\n', "3: neither an import nor a table"),
    ],
)
def test_another_style_is_found(source, fault):
    (found,) = faults(repository_of({"a/__init__.py": source, "a/b.py": source}))
    assert str(found).startswith(f"firth/a/__init__.py:{fault}")


def test_the_style_is_allowed():
    source = '"""P."""\n\nfrom a import b\n\n__all__ = ["b"]\nTABLE: dict = {}\n'
    assert list(faults(repository_of({"__init__.py": source}))) == []
