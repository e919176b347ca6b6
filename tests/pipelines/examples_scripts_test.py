"""The scripts in examples/ run as they are, with fewer steps."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
# Options that make each short, and lines that it prints. Those after `train_and_serve` use its model.
SCRIPTS = {
    "layers_in_keras": (["--steps", "20"], [r"bits per byte: [3-7]\.\d\d", r"Returns the .+"]),
    "front_door": (
        [],
        [r"\[Candidate\(piece=.*", r"(returns|other) [01]\.\d\d  Return the name of the header\."],
    ),
    "own_corpus": (
        [],
        [
            r"pii +classes +22 in, +22 kept",
            r"pii +modules +6 in, +6 kept",
            r"pii +modules +\w+: 6",
            r"The page: .*html",
        ],
    ),
    "train_and_serve": (
        ["--steps", "180"],
        [r"perplexity over unigram: 0\.\d\d", r"0\.\d+  Returns the \S+ of .*"],
    ),
    "hidden_states": (
        [],
        [r"\d+ hidden states of width 128: Return the mean .*", r"-?[01]\.\d+  Return the mean .*"],
    ),
    "ask_the_endpoint": (
        [],
        [r".*\"fill_mask\".*", r" *pieces: \[\[.*", r".*\"embed\".*", r" *embedding: \[\[.*"],
    ),
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


def test_every_script_is_in_the_table():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SCRIPTS)


@pytest.mark.repeated
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script(name, root):
    options, lines = SCRIPTS[name]
    place = [] if name in ("layers_in_keras", "front_door") else ["--root", str(root)]
    process = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", *options, *place],
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert process.returncode == 0, process.stderr[-3000:]
    for line in lines:
        assert re.search(f"^{line}$", process.stdout, flags=re.MULTILINE), process.stdout[-3000:]
    if name == "own_corpus":
        pages = (root / "own_corpus" / "corpus_report.html").read_text(encoding="utf-8")
        assert "malformed_json" in pages and "ann@mail.firth-docs.org" not in pages
