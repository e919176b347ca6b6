"""The README links to files that are there, and its Python snippets run as they are."""

import ast
import os
import re
import subprocess
import sys

import pytest

from tests.docs.snippets import REPOSITORY, all_snippets
from tests.docs.snippets_test import folder  # noqa: F401

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
SNIPPETS = {
    name: snippet.text
    # Later ones load more, so that none lives on what an earlier one has imported.
    for name, word in (
        ("layers", "MaskedTransformer"),
        ("endpoint", "saved_model.load"),
        ("run", "create_pipeline"),
    )
    for snippet in all_snippets("python")
    if snippet.page == "README.md" and word in snippet.text
}
END = "end of the snippet"


def test_it_names_tensorboard():
    assert "tensorboard --logdir" in README


def test_its_links_lead_to_files():
    links = re.findall(r"\]\(([\w./-]+)\)", README)
    assert "docs/how-to/own-corpus.md" in links
    assert [link for link in links if not (REPOSITORY / link).exists()] == []


def test_each_of_its_snippets_is_run_below():
    assert len(SNIPPETS) == len([each for each in all_snippets("python") if each.page == "README.md"]) == 3


@pytest.fixture(scope="module")
def printed(folder):  # noqa: F811
    """What each snippet prints, run with names of its own in one new process."""
    program = "\n".join(f"exec({text!r}, {{}}); print({END!r})" for text in SNIPPETS.values())
    process = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert process.returncode == 0, process.stderr[-2000:]
    return dict(zip(SNIPPETS, process.stdout.split(f"{END}\n")))


def test_the_layers(printed):
    assert printed["layers"].strip() == "(1, 8, 64)"


def test_the_endpoint(printed):
    assert printed["endpoint"].startswith("[b'")


def test_the_pipeline(printed):
    start = (REPOSITORY / "docs" / "index.md").read_text(encoding="utf-8")
    named = re.search(r"CorpusExampleGen -> .* Reporter", start, flags=re.DOTALL)[0].split("->")
    # TFX orders what does not depend on each other as it likes.
    assert sorted(ast.literal_eval(printed["run"])) == sorted([*map(str.strip, named), "LatestBlessedModel"])
