"""Wording of changed lines."""

import subprocess

import pytest

from scripts.lint.prose import faults
from scripts.lint.sources import Changed, read_changes, repository_of

PYTHON = '''\
"""What the heads have in common, and what it
is; told `said` where it stands.

>>> said
"""

# Of a row, as fields
a = 1  # It goes on.


def f():
    """Returns what
    is in the place
    of a; it is, as they said."""
    return "told"


def g():
    r"""Whether it is; how is not at the start."""


# Documents of a source, which go on. Of no use, but in a sentence.
'''
FAULTS = """\
1: "What" or "How" at the start: write a verb or the noun instead
1: "what it is": write the noun instead
2: "stands": write "is" instead
2: "told": write "reported" instead
7: "Of ..., ..." at the start: write a full sentence instead
8: "go on": write "continue" or "resume" instead
12: "Returns what": write "Returns the" instead
13: "in the place of": write "instead of" instead
14: "said": write "reported" or "named" instead
19: "Whether" at the start: write "Returns true if" instead
22: "go on": write "continue" or "resume" instead
""".splitlines()
MARKDOWN = "Said once.\n\n```sh\nfirth said\n```\n\nA model\nstands.\n"


def found(path, text, lines):
    changed = {path: Changed(text, frozenset(lines))}
    return [str(each) for each in sorted(faults(repository_of({})._replace(changed=changed)))]


def test_each_pattern_is_found_in_docstrings_and_comments():
    assert found("firth/a.py", PYTHON, range(1, 30)) == [f"firth/a.py:{fault}" for fault in FAULTS]


def test_other_lines_are_left_alone():
    assert found("firth/a.py", PYTHON, [9, 12, 15]) == [f"firth/a.py:{FAULTS[6]}"]
    # The match begins in the line before.
    assert found("firth/a.py", PYTHON, [2]) == [
        f"firth/a.py:{FAULTS[1]}",
        *(f"firth/a.py:{each}" for each in FAULTS[2:4]),
    ]


@pytest.mark.parametrize("path, lines", [
    ("docs/how-to/a.md", [1, 8]),
    ("benchmarks/README.md", [1, 8]),
    ("CONTRIBUTING.md", [1, 8]),
    ("CHANGELOG.md", []),
    ("docs/a.txt", []),
])  # fmt: skip
def test_markdown_of_docs(path, lines):
    assert [int(each.split(":")[1]) for each in found(path, MARKDOWN, range(1, 9))] == lines


def git(root, *arguments):
    user = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(["git", "-C", str(root), *user, *arguments], check=True, capture_output=True)


def new_lines(root):
    return {path: sorted(changed.lines) for path, changed in read_changes(root).items()}


def test_changed_lines_of_a_checkout(tmp_path, capsys):
    assert read_changes(tmp_path) is None
    assert list(faults(repository_of({}))) == [] and "no history" in capsys.readouterr().err
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.py").write_text("a = 1\nb = 2\n# Moved.\nc = 3\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "a")
    assert read_changes(tmp_path) is None
    (tmp_path / "a.py").write_text("a = 1\nd = 2\nc = 3\n")
    (tmp_path / "é.md").write_text("++ b/c.py\n\nlast")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "b")
    (tmp_path / "a.py").write_text("a = 1\nd = 2\nc = 3\ne = 5\nf = 6\n")
    (tmp_path / "new.py").write_text("# New.\n    # Moved.\n")
    (tmp_path / "new.txt").write_text("no")
    assert new_lines(tmp_path) == {"a.py": [2, 4, 5], "é.md": [1, 2, 3], "new.py": [1]}
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "c")
    assert new_lines(tmp_path) == {"a.py": [2, 4, 5], "é.md": [1, 2, 3], "new.py": [1]}
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert new_lines(tmp_path) == {"a.py": [4, 5], "new.py": [1, 2]}
