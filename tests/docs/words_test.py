"""The table of names has names that are there: the recipe's, and KerasHub's."""

import ast
import functools
import importlib.util
import pathlib
import re

import pytest

from firth.recipes import Recipe
from firth.recipes.base.types import configs_in, key_paths
from tests.docs.snippets import REPOSITORY

TEXT = (REPOSITORY / "docs" / "words.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([a-z_.]+)` \| (.+?) \| (.+?) \| (.+?) \|$", TEXT, flags=re.MULTILINE)
KEYS = set(key_paths(Recipe))


@functools.cache
def constructor_arguments() -> set[str]:
    """Names of the arguments of all constructors of KerasHub, read without importing it."""
    folder = pathlib.Path(importlib.util.find_spec("keras_hub").origin).parent
    files = [*folder.glob("src/models/*/*_backbone.py"), *folder.glob("src/layers/**/*.py")]
    functions = [
        node
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    ]
    return {
        argument.arg
        for function in functions
        if function.name == "__init__"
        for argument in [*function.args.args, *function.args.kwonlyargs]
    } | {"MaskedLMMaskGenerator", "TransformerEncoder"}


def test_there_are_rows():
    assert len(ROWS) == len(re.findall(r"^\| `", TEXT, flags=re.MULTILINE)) > 25


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row(row):
    assert row[0] in KEYS or f"model.{row[0]}" in KEYS
    named = re.findall(r"`(\w+)`", row[1])
    assert named or row[1] == "–"
    assert set(named) <= constructor_arguments()


def test_every_word_of_a_stack_is_in_the_table():
    """Those that KerasHub and Hugging Face have no name for are firth's alone."""
    alone = {"kind", "biases", "output_dropout", "scaled_initializer", "attention", "feed_forward", "norm"}
    alone |= {
        "positions",
        "embeddings",
        "local_attention",
        "share_layers",
        "bidirectional_prefix",
        "scaled_residual_initializer",
    }
    models = configs_in(Recipe.model_fields["model"].annotation)
    (causal,) = [each for each in models if each.__name__.startswith("CausalTransformer")]
    assert set(causal.model_fields) - alone == {
        "layers",
        "width",
        "dropout",
        "initializer_stddev",
        "tied_output",
    }
    assert {"layers", "width", "dropout", "initializer_stddev", "tied_output"} <= {row[0] for row in ROWS}
