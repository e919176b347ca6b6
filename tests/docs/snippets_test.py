"""Every snippet of README, CONTRIBUTING and docs/ is run, or checked as far as is possible unrun."""

import contextlib
import io
import json
import os
import re
from unittest import mock

import numpy as np
import pytest

from firth.language_model import LanguageModel
from firth.models import save_model
from firth.objectives import OBJECTIVES
from firth.recipes import load_recipe
from firth.recipes.base.errors import RecipeError
from firth.recipes.reading.adapting import load_adapting_recipe
from firth.serving.saved_model import export
from firth.tokenizers import BytePairTokenizer, save_tokenizer
from firth.tokenizers.graph.byte_pieces import byte_pieces
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES
from tests.docs.command_checks import CHECKS, check
from tests.docs.snippets import PAGES, REPOSITORY, all_snippets, commands, indented_blocks, snippets_of
from tests.exported_model import exported_model
from tests.recipes.bundles import write_bundle

LANGUAGES = {"sh", "python", "yaml", "text"}
COMMANDS = [(snippet, command) for snippet in all_snippets("sh") for command in commands(snippet)]
# `readme_test.py` runs those of the README, each in a process of its own.
IN_README = {snippet.text for snippet in all_snippets("python") if snippet.page == "README.md"}
# `tutorials_test.py` runs the tutorials.
PYTHON_PAGES = sorted(
    {
        snippet.page
        for snippet in all_snippets("python")
        if snippet.text not in IN_README and not snippet.page.startswith("docs/tutorials/")
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the runs `demo` and `gpt2_tiny`, the imported model `minilm`, and `reviews.csv`."""
    folder = tmp_path_factory.mktemp("docs")
    runs = folder / "firth-runs"
    serve_demo(folder)
    (runs / "minilm").mkdir()
    (runs / "minilm" / "bundle").symlink_to(runs / "demo" / "bundle")
    serve_writer(runs / "gpt2_tiny")
    reviews = ["review,stars", *(f"the cat sat on mat {number},{number % 2}" for number in range(32))]
    (folder / "reviews.csv").write_text("\n".join(reviews))
    return folder


def serve_demo(folder):
    """Writes the run `demo`, whose model is the exported one of all tests."""
    exported, run = exported_model(), folder / "firth-runs" / "demo"
    (run / "serving").mkdir(parents=True)
    (run / "serving" / "1").symlink_to(exported.directory)
    served = exported.served
    save_tokenizer(served.tokenizer, folder / "tokenizer")
    save_model(served.model, served.recipe, folder / "tokenizer", run / "bundle")
    (run / "run.json").write_text(json.dumps({"bundle": str(run / "bundle")}))


def serve_writer(run):
    """Keeps and exports a model that writes, of one layer and single bytes."""
    sizes = ["tokenizer.vocabulary_size=272", "model.layers=1", "model.width=32", "model.attention.heads=2"]
    recipe = load_recipe("gpt2_tiny", [*sizes, "export.slots=2"])
    pieces = [*SPECIAL_PIECES, *byte_pieces()]
    counts = (np.arange(272) < len(pieces)).astype(int)
    model = LanguageModel(recipe, BytePairTokenizer(pieces))
    model.save(run / "bundle")
    export(model.network, model.tokenizer, recipe, counts, str(run / "serving" / "1"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_no_code_escapes_the_checks(path):
    """All code is between fences, and its language has a check."""
    text = path.read_text(encoding="utf-8")
    assert {snippet.language for snippet in snippets_of("", text)} <= LANGUAGES
    assert indented_blocks(text) == []


@pytest.mark.parametrize(("snippet", "command"), COMMANDS, ids=str)
def test_commands(snippet, command):
    check(command)


@pytest.mark.parametrize("command", [
    "firth run bert_mini --txt 'books/*.txt'",
    "firth predict demo no-such",
    "make demos",
    "python -m benchmarks.absent",
    "python examples/absent.py",
    "pip install . -c requirements/py27.txt",
    'pip install ".[kubflow]"',
    "docker build -f docker/Absent/Dockerfile -t me/firth:1 .",
    "tfx pipeline create --engine=local --pipeline_path=firth/pipelines/absent.py",
    """curl -d '{"signature_name": "embed", "inputs": {"x": ["A"]}}' localhost:8501/v1/models/x:predict""",
])  # fmt: skip
def test_commands_that_cannot_work_are_noticed(command):
    with pytest.raises(Exception):  # noqa: B017
        check(command)


def test_every_check_of_a_program_is_used():
    """So that none stays when the command that it was written for is gone."""
    used = {
        program
        for program in CHECKS
        for _, command in COMMANDS
        if re.search(rf"(^|[ /]){re.escape(program)} ", command)
    }
    assert used == set(CHECKS)


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """A folder with the bundles that recipes of the pages name."""
    folder = tmp_path_factory.mktemp("bases")
    for name, preset in (("minilm", "bert_tiny"), ("t5_tiny", "t5_tiny"), ("gpt2_tiny", "gpt2_tiny")):
        write_bundle(folder / name / "bundle", preset=preset)
    return folder


@pytest.mark.parametrize("snippet", all_snippets("yaml"), ids=str)
def test_recipes(snippet, bases, tmp_path):
    """A whole recipe, or a part of one that a recipe with sources of the names it uses may have."""
    text, load = snippet.text, load_recipe
    if "\ntask:" in text:
        load = load_adapting_recipe
    elif not re.search("^sources:", text, flags=re.MULTILINE):
        sources = [f"{{kind: text, name: {name}, paths: [{name}.txt]}}" for name in ("crawl", "books")]
        text = f"extends: bert_mini\nsources: [{', '.join(sources)}]\n{text}"
    if "limits:" in text and "steps: [" not in text and "\n    steps:\n      - {step: c4" in text:
        text = text.replace("cleaning:\n", "cleaning:\n  steps: [{kind: c4}]\n")
    path = tmp_path / "my_recipe.yaml"
    path.write_text(text)
    assert load(str(path), root=bases).name in text or "name:" not in snippet.text
    with pytest.raises(RecipeError):
        path.write_text(re.sub(r"^(\w+):", r"\1x:", text, count=1, flags=re.MULTILINE))
        load(str(path), root=bases)


@pytest.mark.repeated
@pytest.mark.parametrize("page", PYTHON_PAGES)
def test_python(page, folder, monkeypatch):
    """The snippets of a page run one after another, as one program."""
    monkeypatch.chdir(folder)
    names: dict = {"__name__": "snippets"}
    # What a page adds to the table is for that page alone.
    with mock.patch.dict(OBJECTIVES):
        for snippet in all_snippets("python"):
            if snippet.page == page:
                padded = "\n" * (snippet.line - 1) + snippet.text
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    exec(compile(padded, os.fspath(REPOSITORY / page), "exec"), names)
                assert printed.getvalue() or "print(" not in snippet.text
    assert "late_causal_lm" not in OBJECTIVES


PATHS = [
    (str(path.relative_to(REPOSITORY)), named)
    for path in PAGES
    for named in re.findall(
        r"`((?:firth|benchmarks|examples|tests|requirements|scripts|docs)/[\w./]*\w)`", path.read_text()
    )
]


@pytest.mark.parametrize(("page", "named"), PATHS)
def test_paths_exist(page, named):
    assert (REPOSITORY / named).exists()


def test_troubleshooting_quotes_sentences_of_the_sources():
    """Each is in the sources, whose parts between braces are those between `<` and `>` on the page."""
    # Strings that follow one another are one, as in Python.
    joined = re.compile(r'"\s*\n\s*f?"')
    sources = "\n".join(
        re.sub(r"\{[^{}]*\}", "<>", joined.sub("", path.read_text(encoding="utf-8")))
        for path in (REPOSITORY / "firth").rglob("*.py")
    )
    page = (REPOSITORY / "docs/troubleshooting.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^### `(.+)`$", page, re.MULTILINE)
    assert len(quoted) >= 30
    assert [each for each in quoted if re.sub(r"<[^<>]*>", "<>", each) not in sources] == []
