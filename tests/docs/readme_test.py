"""The README links to files that are there, and its Python snippets run as they are."""

import ast
import contextlib
import io
import re

import pytest

from benchmarks import tables
from benchmarks.claims import RUNS, read_claims, replaced, sentence
from tests.docs.snippets import REPOSITORY, all_snippets
from tests.docs.snippets_test import serve_demo
from tests.fresh_process import run_python
from tests.generation.cases import eagerly

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
SNIPPETS = {
    name: snippet.text
    for name, word in (
        ("writer", "firth.pretrain"),
        ("layers", "MaskedTransformer"),
        ("endpoint", "saved_model.load"),
        ("run", "create_pipeline"),
    )
    for snippet in all_snippets("python")
    if snippet.page == "README.md" and word in snippet.text
}


def test_it_names_tensorboard():
    assert "tensorboard --logdir" in README


def test_its_links_lead_to_files():
    links = re.findall(r"\]\(([\w./-]+)\)", README)
    assert "docs/how-to/own-corpus.md" in links
    assert [link for link in links if not (REPOSITORY / link).exists()] == []


def test_its_claim_of_speed_is_the_range_of_all_kept_runs(tmp_path):
    assert replaced(README, sentence(read_claims(RUNS))) == README
    for name in ("2026-11-27-a", "2026-11-27-b"):
        (tmp_path / f"{name}.json").write_bytes((RUNS / f"{name}.json").read_bytes())
    with pytest.raises(ValueError, match=r"bert .*2 .*3"):
        read_claims(tmp_path)


def test_figures_of_benchmarks_are_listed_and_print_as_tables():
    page = (REPOSITORY / "benchmarks/README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", page.partition("## Figures")[2], re.MULTILINE)
    assert sorted(listed) == tables.names() and len(page.splitlines()) < 300
    for name in listed:
        blocks = tables.markdown(name).split("\n\n")
        rows = [[line.count(" |") for line in each.splitlines()] for each in blocks if each.startswith("| ")]
        assert all(len(set(widths)) == 1 and len(widths) > 2 for widths in rows), name
    assert "| resiliparse, all text | 0.531 | 0.991 | 0.691 | 2,286 |" in tables.markdown("html")


def test_each_of_its_snippets_is_run_below():
    assert len(SNIPPETS) == len([each for each in all_snippets("python") if each.page == "README.md"]) == 4


def printed(name):
    """Returns the output of a snippet, run with names of its own."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(SNIPPETS[name], {})
    return output.getvalue()


def test_the_writer_of_the_start_page(tmp_path, monkeypatch):
    start = next(snippet for snippet in all_snippets("python") if snippet.page == "docs/index.md")
    assert start.text == SNIPPETS["writer"]
    monkeypatch.chdir(tmp_path)
    fewer = start.text.replace("steps=200", "steps=2").replace("dir(numpy)", "dir(numpy)[::20]")
    fewer = fewer.replace("small = {", 'small = {"model.layers": 1, ')
    assert '"model.layers": 1, "tokenizer' in fewer
    monkeypatch.setitem(SNIPPETS, "writer", fewer)
    # Two steps take less op by op than a trace.
    with eagerly():
        assert printed("writer").strip()
    assert (tmp_path / "firth-runs/writer/bundle").is_dir()


def test_the_layers():
    assert printed("layers").strip() == "(1, 8, 64)"


def test_the_endpoint(tmp_path):
    """In a process without firth; what registers the ops of the model is loaded there, and by the snippet."""
    serve_demo(tmp_path)
    assert "import tensorflow_text" in SNIPPETS["endpoint"]
    process = run_python(["-c", SNIPPETS["endpoint"]], cwd=tmp_path)
    assert process.returncode == 0, process.stderr[-2000:]
    assert process.stdout.startswith("[b'")


def test_the_pipeline():
    start = (REPOSITORY / "docs" / "index.md").read_text(encoding="utf-8")
    named = re.search(r"CorpusExampleGen -> .* Reporter", start, flags=re.DOTALL)[0].split("->")
    # TFX orders what does not depend on each other as it likes.
    assert sorted(ast.literal_eval(printed("run"))) == sorted([*map(str.strip, named), "LatestBlessedModel"])
