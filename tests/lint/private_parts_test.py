"""Private parts of others that sources use."""

import pytest

from scripts.lint.private_parts import EXCEPTIONS, faults, uses
from scripts.lint.sources import Source, repository_of


@pytest.mark.parametrize(
    "source, line, name",
    [
        ("from apache_beam.io.tfrecordio import _TFRecordUtil", 1, "apache_beam.io.tfrecordio._TFRecordUtil"),
        ("from keras.src.layers import Dense", 1, "keras.src.layers.Dense"),
        ("import numpy._core", 1, "numpy._core"),
        ("import keras\nkeras.Model()._layers", 2, "_layers"),
        ("class A(B):\n    def f(self):\n        return self._of_the_base", 3, "_of_the_base"),
        ("class A(B):\n    def _hook(self):\n        pass", 2, "_hook"),
    ],
)
def test_private_parts_are_noticed(source, line, name):
    ((_, *found, sentence),) = uses([Source("a.py", source)])
    assert found == [line, name] and sentence.startswith(f"{name} is ")


def test_own_names_and_documented_ones_are_not():
    own = "class A:\n    _x = 1\n    def f(self):\n        return self._g(self._x)\n    def _g(self, x): pass"
    other = "from firth.a import _h\na._x, b._replace(c=1), _h"
    assert list(uses([Source("a.py", own), Source("b.py", other)])) == []


def test_exceptions_are_allowed_and_needed():
    texts: dict[str, str] = {}
    for place, name in EXCEPTIONS:
        texts[place] = f"{texts.get(place, '')}a.{name}\n"
    assert list(faults(repository_of(texts))) == []
    (found,) = faults(repository_of({**texts, "tokenizers/piece_tokenizer.py": ""}))
    assert found.path == "scripts/lint/private_parts.py" and found.line > 1
    assert "the exception for _add_special_token is not needed" in found.sentence
    (found,) = faults(repository_of({**texts, "tokenizers/other.py": "\na._add_special_token"}))
    assert str(found).startswith("firth/tokenizers/other.py:2: _add_special_token is private")
