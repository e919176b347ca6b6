"""The command that applies all rules."""

import pathlib
import runpy

import pytest

from scripts import lint
from scripts.lint import imports, inits, layout
from scripts.lint.runner import RULES, main

BUILD = 'py_library(name = "a")\npy_library(name = "firth", deps = [":a"])\n'


@pytest.fixture
def tree(tmp_path):
    """A package with nothing wrong in it."""
    texts = {
        "BUILD": BUILD,
        "firth/__init__.py": '"""P."""\n',
        "firth/a.py": "",
        "tests/a_test.py": "",
    }
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_a_clean_tree_is_silent(tree, capsys):
    assert main(tree, [imports.faults, inits.faults, layout.target_faults, layout.mirror_faults]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("firth/a.py", "\nimport keras\n", "firth/a.py:2: a may not import keras: "),
        ("firth/b.py", "", "firth/b.py:1: b has no target in BUILD"),
        ("tests/b_test.py", "", "tests/b_test.py:1: the test has the name of no module or folder in firth"),
        ("firth/__init__.py", "", "firth/__init__.py:1: no docstring"),
        ("firth/features.py", "\n\ndef _f(a): ...\n", "firth/features.py:3: _f has no annotation for a"),
        ("firth/a.py", '\nmodel.kind == "t5"\n', "firth/a.py:2: `model.kind == 't5'` tells kinds apart"),
        ("firth/a.py", "\na._b()\n", "firth/a.py:2: _b is private"),
        ("firth/a.py", "\nopen(1)\n", "firth/a.py:2: open touches files"),
    ],
    ids=["imports", "targets", "tests", "inits", "annotations", "kinds", "private", "files"],
)
def test_the_command_reports_a_fault_of_each_rule(tree, monkeypatch, capsys, path, text, line):
    (tree / path).write_text(text)
    monkeypatch.chdir(tree)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("scripts.lint", run_name="__main__")
    assert ended.value.code == 1
    assert [each for each in capsys.readouterr().out.splitlines() if each.startswith(line)]


def test_a_file_that_cannot_be_parsed_is_reported(tree, capsys):
    (tree / "firth" / "a.py").write_text("a = 1\nb = (\n")
    assert main(tree) == 1
    assert capsys.readouterr().out.startswith("firth/a.py:2: cannot be parsed: ")


def test_all_rules_are_applied():
    modules = {path.stem for path in pathlib.Path(lint.__file__).parent.glob("*.py")}
    rules = modules - {"__init__", "__main__", "runner", "sources"}
    assert sorted(rule.__module__ for rule in RULES) == [f"scripts.lint.{name}" for name in sorted(rules)]
