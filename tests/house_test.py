"""Figures of a small package, from a working tree and from a commit."""

import subprocess

import pytest

from scripts.house import main

TREE = {
    "firth/__init__.py": '"""Package."""\n',
    "firth/a/__init__.py": '"""Room."""\n\nfrom firth.lazy import attach\n',
    "firth/a/__init__.pyi": "from .read import f as f\n",
    "firth/a/read.py": '"""Read\n\nhere."""\n\n# Why.\ndef f():\n    return """\n\n"""  # No docstring.\n',
    "firth/a/near.py": "from firth.a import read\nimport firth.a.near\n",
    "firth/far.py": "def g():\n    from firth.a.near import h\n",
    "firth/lazy.py": "",
    "scripts/not_counted.py": "import firth.lazy\n",
}
FIGURES = {
    "modules": "6",
    "lines": "17",
    "code lines": "9",
    "docstring lines": "5",
    "comment lines": "1",
    "median file": "2 lines",
    "longest file": "9 lines, firth/a/read.py",
    # One is `lazy`, imported from another folder, the other `near`; `read` has the stub and `near`.
    "modules with one importer": "2, 0 of them in the same folder",
    "__init__ files with one statement": "1 of 2",
    "importers a module": "1.00",
}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for path, text in TREE.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys):
    return {line[:36].rstrip(): line[36:] for line in capsys.readouterr().out.splitlines()}


def test_figures_of_a_tree_and_of_a_commit(tree, capsys):
    assert main([]) == 0
    assert printed(capsys) == FIGURES
    commit = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "a"]
    for command in (["git", "init", "-q"], ["git", "add", "."], commit):
        subprocess.run(command, check=True)
    (tree / "firth" / "far.py").unlink()
    (tree / "firth" / "a" / "near.py").write_text("")
    assert main(["HEAD"]) == 0
    assert printed(capsys) == FIGURES
    assert main([]) == 0
    assert printed(capsys) == FIGURES | {
        "modules": "5",
        "lines": "13",
        "code lines": "5",
        "median file": "1 lines",
        "modules with one importer": "2, 1 of them in the same folder",
        "importers a module": "0.67",
    }


def test_an_unknown_commit_ends_with_an_error(tree, capfd):
    assert main(["nothing"]) != 0
    assert capfd.readouterr().out == ""
