"""Signatures of the front door name a type for each argument and each answer."""

import ast
import importlib.util
import pathlib

import pytest

FILES = ("adapting", "answers", "model", "opening", "preprocessor", "pretraining", "types")


def public_functions(tree):
    """Yields the functions and methods that users call, with the arguments of constructors."""
    for node in tree.body:
        for each in [node] if isinstance(node, ast.FunctionDef) else getattr(node, "body", ()):
            if isinstance(each, ast.FunctionDef) and (each.name.startswith("__") or each.name[0] != "_"):
                yield each


@pytest.mark.parametrize("name", FILES)
def test_no_public_signature_has_any(name):
    found = importlib.util.find_spec(f"firth.language_model.{name}")
    tree = ast.parse(pathlib.Path(found.origin).read_text())
    for function in public_functions(tree):
        arguments = function.args
        given = [
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ]
        annotations = [function.returns, *(each.annotation for each in given if each is not None)]
        text = [ast.unparse(each) for each in annotations if each is not None]
        assert not [each for each in text if "Any" in each.replace("AnyTokenizer", "")], function.name
    aliases = [
        ast.unparse(each.value) for each in tree.body if isinstance(each, ast.AnnAssign) and each.value
    ]
    assert not [each for each in aliases if "Any" in each.replace("AnyTokenizer", "")]
