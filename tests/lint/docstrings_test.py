"""Gaps in docstrings and annotations."""

import pytest

from scripts.lint.docstrings import annotation_faults, docstring_faults, faults
from scripts.lint.sources import Source, repository_of


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ('def f(a: int) -> int:\n    """Returns a."""\n', "1: f: `Args:` does not name a"),
        ('def f(*a: int) -> int:\n    """Returns a."""\n', "1: f: `Args:` does not name a"),
        (
            'def f(size: int) -> int:\n    """Returns a.\n\n    Args:\n        sizes: A.\n    """\n',
            "1: f: `Args:` does not name size; it has sizes",
        ),
        (
            'def f(a: int) -> int:\n    """Returns a.\n\n    Args:\n        a: Of b.\n    """\n',
            "1: f: the entry `a` begins with 'Of'; begin with a noun",
        ),
        (
            'class C:\n    """C."""\n\n    def __init__(self, a: int) -> None: ...\n',
            "1: C: `Args:` does not name a",
        ),
        (
            'class C:\n    """C."""\n\n    def f(self, a: int) -> None:\n        """Returns."""\n',
            "4: C.f: `Args:` does not name a",
        ),
        ('class C(NamedTuple):\n    """C."""\n\n    a: int\n', "1: C: `Attributes:` does not name a"),
        (
            '@dataclasses.dataclass(frozen=True)\nclass C:\n    """C."""\n\n    a: int\n    _b: int\n',
            "2: C: `Attributes:` does not name a",
        ),
        (
            'def f() -> int:\n    """Returns 1."""\n    if x:\n        raise ValueError("no")\n',
            "1: f: `Raises:` does not name ValueError",
        ),
    ],
)
def test_a_gap_in_a_docstring_is_found(source, complaint):
    (found,) = docstring_faults(Source("a.py", source), {"f", "C"})
    assert str(found) == f"firth/a.py:{complaint}"


@pytest.mark.parametrize(
    "source",
    [
        'def f(a: int) -> int:\n    """Returns a.\n\n    Args:\n        a: A number.\n    """\n',
        'def _f(a: int) -> int:\n    """Returns a."""\n    raise ValueError("no")\n',
        'def f() -> int:\n    """Ends.\n\n    Raises:\n        OSError: No.\n    """\n    raise OSError(1)\n',
        # The base class describes it.
        'class C:\n    """C."""\n\n    def f(self, a: int) -> int: ...\n',
        'def f() -> int:\n    """Returns."""\n    raise error\n\n\ndef _g() -> int:\n    raise OSError(1)\n',
    ],
)
def test_a_whole_docstring_has_no_fault(source):
    assert list(docstring_faults(Source("a.py", source), {"f", "C"})) == []


@pytest.mark.parametrize(
    ("source", "missing"), [("def _f(a) -> None: ...", "a"), ("def f(self, *, a: int): ...", "return")]
)
def test_a_missing_annotation_is_found(source, missing):
    (found,) = annotation_faults(Source("a.py", source))
    assert found.sentence.endswith(f"has no annotation for {missing}")


def test_one_sentence_is_enough_for_a_name_that_no_package_exports():
    text = 'def f(a: int) -> int:\n    """Returns a."""\n\n\ndef g(a) -> int:\n    """Returns a."""\n'
    files = {"layers/__init__.py": '"""Layers."""', "layers/x.py": text}
    (bare,) = faults(repository_of(files))
    assert bare.sentence == "g has no annotation for a"
    exported = faults(repository_of({**files, "layers/__init__.pyi": "from .x import f as f"}))
    assert [each.sentence for each in exported] == ["f: `Args:` does not name a", bare.sentence]
