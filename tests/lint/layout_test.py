"""Folders, files, classes and tests that are not where they should be."""

import pytest

from scripts.lint.layout import (
    OUTSIDE,
    class_faults,
    faults,
    mirror_faults,
    size_faults,
    target_faults,
)
from scripts.lint.sources import Source, repository_of

FILES = {"__init__.py": "", "features.py": "", "layers/__init__.py": "", "layers/blocks/__init__.py": ""}
UP, DOWN = "from firth.layers.norms import Norm", "from firth.layers.blocks.a import A"


def build_of(*names: str) -> str:
    return "".join(f'py_library(name = "{name}")\n' for name in names)


@pytest.mark.parametrize(
    ("changes", "complaints"),
    [
        ([], []),
        (["-layers/blocks"], ["firth/layers/blocks/__init__.py:1: layers/blocks has no target in BUILD"]),
        (["-features"], ["firth/features.py:1: features has no target in BUILD"]),
        (["-layers"], ["firth/layers/__init__.py:1: layers has no target in BUILD"]),
        (["gone"], ["BUILD:5: the target gone has no folder or file"]),
        (["layers/gone"], ["BUILD:5: the target layers/gone has no folder"]),
        (["-firth"], ['BUILD:1: no target has name = "firth"']),
    ],
)
def test_a_folder_and_its_target_belong_together(changes, complaints):
    names = [name for name in ("firth", "features", "layers", "layers/blocks") if f"-{name}" not in changes]
    names += [name for name in changes if not name.startswith("-")]
    found = list(map(str, target_faults(repository_of(FILES, build_of(*names)))))
    assert len(found) == len(complaints)
    assert all(each.startswith(complaint) for each, complaint in zip(found, complaints))


@pytest.mark.parametrize(
    ("files", "rooms"),
    [
        ({"layers/x.py": DOWN}, ["blocks"]),
        ({"layers/blocks/a.py": UP}, ["blocks"]),
        ({"layers/blocks/a.py": UP, "layers/x.py": f"def f():\n    {DOWN}"}, []),
        ({"layers/blocks/a.py": UP, "layers/__init__.pyi": "from .blocks.a import A as A"}, []),
        ({"layers/blocks/a.py": UP, "layers/heads/__init__.py": DOWN}, ["heads"]),
        ({"layers/blocks/a.py": UP, "serving/x.py": DOWN}, ["blocks"]),
    ],
)
def test_only_a_room_that_its_folder_imports_back_has_no_target(files, rooms):
    build = build_of("firth", "features", "layers", "serving")
    files = {**FILES, "serving/__init__.py": "", **files}
    found = list(target_faults(repository_of(files, build)))
    assert [fault.sentence.split()[0] for fault in found] == [f"layers/{room}" for room in rooms]


@pytest.mark.parametrize(("lines", "complaints"), [(500, []), (501, ["firth/a.py:501: 501 lines"])])
def test_a_long_file_is_noticed(lines, complaints):
    found = list(map(str, size_faults(repository_of({"a.py": "1\n" * lines}))))
    assert [each.split(" in ")[0] for each in found] == complaints


@pytest.mark.parametrize(("count", "complaints"), [(24, []), (25, ["firth/a/__init__.py:1: 25 modules"])])
def test_a_full_folder_is_noticed(count, complaints):
    files = {f"a/m{number}.py": "" for number in range(count)} | {"a/__init__.py": "", "a/b/c.py": ""}
    found = list(map(str, size_faults(repository_of(files))))
    assert [each.split(" in ")[0] for each in found] == complaints


EXECUTOR = "class Executor: ..."


@pytest.mark.parametrize(
    ("files", "complaints"),
    [
        ({"a.py": "class A: ...\nclass _B: ...", "b.py": "class C: ...\nclass _B: ..."}, []),
        (
            {"a.py": "class A: ...", "b.py": "\nclass A: ..."},
            ["firth/b.py:2: another class is called A: firth/a.py:1"],
        ),
        ({"components/a.py": EXECUTOR, "components/b.py": EXECUTOR}, []),
        (
            {"a.py": EXECUTOR, "components/x.py": EXECUTOR, "components/y.py": EXECUTOR},
            ["firth/a.py:1: another class is called Executor: firth/components/x.py:1"],
        ),
    ],
)
def test_a_shared_name_is_noticed(files, complaints):
    assert list(map(str, class_faults(Source(*each) for each in files.items()))) == complaints


@pytest.mark.parametrize(
    "test", ["layers/layers_theme_test", "layers/norms_test", "layers/norms_theme_test", "layers/blocks_test"]
)
def test_a_test_may_have_the_name_of_a_module_or_folder(test):
    files = {"layers/norms.py": "", "layers/blocks/__init__.py": ""}
    assert list(mirror_faults(repository_of(files, tests=(test,)))) == []


@pytest.mark.parametrize(
    ("test", "hint"),
    [("layers/nrms_test", "; did you mean norms_test.py?"), ("layers/other_test", ""), ("norms_test", "")],
)
def test_a_test_of_another_name_is_noticed(test, hint):
    (found,) = mirror_faults(repository_of({"layers/norms.py": ""}, tests=(test, "docs/any_test")))
    folder = f"firth/{test}".rpartition("/")[0]
    assert str(found) == f"tests/{test}.py:1: the test has the name of no module or folder in {folder}{hint}"


def test_an_entry_that_nothing_needs_is_noticed():
    tests = ("docs/any_test", "lint/any_test", *OUTSIDE.keys() - {"docs", "lint", "setup_test"})
    (found,) = faults(repository_of({}, build_of("firth"), tests))
    assert found.path == "scripts/lint/layout.py" and found.line > 1
    assert found.sentence == "`setup_test`: no test has this name; remove the entry"
