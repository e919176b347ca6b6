"""The README's Python and YAML snippets run as they are written."""

import ast
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest
import typer

from firth.cli.main import app
from firth.models import save_model
from firth.recipes.reading.loading import load_recipe
from firth.tokenizers import save_tokenizer
from tests.exported_model import exported_model

REPOSITORY = pathlib.Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text()


def snippets(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def run(snippet: str, folder: pathlib.Path) -> str:
    process = subprocess.run(
        [sys.executable, "-c", snippet],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert process.returncode == 0, process.stderr[-2000:]
    return process.stdout


def one(word: str) -> str:
    (found,) = [snippet for snippet in snippets("python") if word in snippet]
    return found


def test_the_pipeline_snippet(tmp_path):
    printed = run(one("create_pipeline"), tmp_path)
    named = re.search(r"CorpusExampleGen -> .* Reporter", README, flags=re.DOTALL)[0].split("->")
    # TFX orders what does not depend on each other as it likes.
    assert sorted(ast.literal_eval(printed)) == sorted([*map(str.strip, named), "LatestBlessedModel"])


def test_the_layer_snippet(tmp_path):
    assert run(one("MaskedTransformer"), tmp_path).strip() == "(1, 8, 64)"


def test_the_serving_snippet(tmp_path):
    serving = tmp_path / "firth-runs" / "demo" / "serving"
    serving.mkdir(parents=True)
    (serving / "1").symlink_to(exported_model().directory)
    assert run(one("saved_model.load"), tmp_path).startswith("[b'")


def test_the_bundle_snippet(tmp_path):
    served = exported_model().served
    save_tokenizer(served.tokenizer, tmp_path / "tokenizer")
    save_model(served.model, served.recipe, tmp_path / "tokenizer", tmp_path / "bundle")
    run_folder = tmp_path / "firth-runs" / "demo"
    run_folder.mkdir(parents=True)
    (run_folder / "run.json").write_text(json.dumps({"bundle": str(tmp_path / "bundle")}))
    assert re.fullmatch(r"\(1, \d+, 8\)\n", run(one("load_model"), tmp_path))


def test_the_recipe_snippet(tmp_path):
    path = tmp_path / "my_recipe.yaml"
    path.write_text(snippets("yaml")[0])
    recipe = load_recipe(str(path))
    assert (recipe.name, recipe.model.layers, recipe.training.steps) == ("my_recipe", 4, 20_000)


COMMANDS = re.findall(r"^    firth (.+?)(?:\s+#.*)?$", README, flags=re.MULTILINE)


@pytest.mark.parametrize("line", COMMANDS)
def test_the_command_takes_every_line_of_the_readme(line):
    """Parsed by each command and its subcommands, and not run."""
    command, words = typer.main.get_command(app), shlex.split(line)
    while hasattr(command, "resolve_command"):
        _, command, words = command.resolve_command(command.context_class(command), words)
    command.make_context("firth", words)


def test_every_python_snippet_is_covered():
    assert len(snippets("python")) == 4


@pytest.mark.parametrize(
    "path", re.findall(r"`((?:firth|benchmarks|examples|tests|requirements)/[\w./]+)`", README)
)
def test_every_path_named_exists(path):
    assert path.startswith("firth-runs/") or (REPOSITORY / path).exists()
