"""What others keep to themselves: libraries are used through their public parts."""

import ast
import functools
import pathlib
from collections.abc import Iterator

import pytest

PACKAGE = pathlib.Path(__file__).parents[1] / "firth"
# Public in spite of the underscore: documented for named tuples, for `ast` and for `os`.
DOCUMENTED = {"_asdict", "_exit", "_fields", "_make", "_replace"}
# What no underscore marks, and what its owners say is not for others.
INTERNAL = ("keras.src.", "keras_hub.src.", "tensorflow.python.", "google.protobuf.internal.")

_EXECUTORS = "TFX's own executors make their pipeline so: the options of Beam get TFX's among them"
_OPTIMIZERS = (
    "Keras has no public hook between the sum over replicas, clipping and the update; an `apply` of our own "
    "would need `tf.__internal__`, which merges replicas under XLA"
)
_INDEX = "Keras's page on the base of optimizers names it to those who write their own"
_RESOURCE = "TensorFlow's page on `TrackableResource` names it to those who write their own"
# By file and name, each with why no public part serves.
EXCEPTIONS = {
    ("components/corpus_exporter/executor.py", "_make_beam_pipeline"): _EXECUTORS,
    ("components/curator/executor.py", "_make_beam_pipeline"): _EXECUTORS,
    ("components/sequence_gen/executor.py", "_make_beam_pipeline"): _EXECUTORS,
    ("components/tokenizer_gen/executor.py", "_make_beam_pipeline"): _EXECUTORS,
    ("serving/slots/kept.py", "_create_resource"): _RESOURCE,
    ("serving/slots/kept.py", "_initialize"): _RESOURCE,
    ("tokenizers/graph/model_kernel.py", "_create_resource"): _RESOURCE,
    ("tokenizers/piece_tokenizer.py", "_add_special_token"): "KerasHub's tokenizers name special pieces so",
    ("training/optimizers/summed_gradients.py", "_all_reduce_sum_gradients"): _OPTIMIZERS,
    ("training/optimizers/summed_gradients.py", "_clip_gradients"): _OPTIMIZERS,
    ("training/optimizers/summed_gradients.py", "_get_variable_index"): _INDEX,
}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in DOCUMENTED and name != "_"


@functools.cache
def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """Returns the nodes of a tree, which takes longer than to look at them."""
    return list(ast.walk(tree))


def own_names(tree: ast.AST) -> set[str]:
    """Returns the private names that a file gives to something."""
    names = set()
    for node in nodes_of(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
    return {name for name in names if is_private(name)}


def read_names(tree: ast.AST) -> set[str]:
    """Returns the private names that a file reads."""
    nodes = [node for node in nodes_of(tree) if isinstance(node, ast.Name | ast.Attribute)]
    read = {node.id if isinstance(node, ast.Name) else node.attr for node in nodes if not stores(node)}
    imported = {
        each.name for node in nodes_of(tree) if isinstance(node, ast.ImportFrom) for each in node.names
    }
    return {name for name in read | imported if is_private(name)}


def stores(node: ast.Name | ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Store)


def private_parts(tree: ast.AST, ours: set[str]) -> Iterator[str]:
    """Yields private names of others that a file imports, reads or overrides.

    Args:
        tree: The file.
        ours: Private names that some file of the package gives.
    """
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if not_for_others(each.name))
        elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("firth"):
            names = [f"{node.module}.{each.name}" for each in node.names]
            yield from (name for name in names if not_for_others(name))
        elif isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in ours:
            yield node.attr


def not_for_others(name: str) -> bool:
    return name.startswith(INTERNAL) or any(map(is_private, name.split(".")))


def overridden(tree: ast.AST, read: set[str]) -> Iterator[str]:
    """Yields private methods that no file of ours calls: somebody else must."""
    for node in nodes_of(tree):
        if isinstance(node, ast.ClassDef):
            functions = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            # What is decorated is called by whoever gave the decorator.
            names = [each.name for each in functions if not each.decorator_list]
            yield from (name for name in names if is_private(name) and name not in read)


def found_in(sources: dict[str, str]) -> set[tuple[str, str]]:
    """Returns the files and names of private parts of others."""
    trees = {path: ast.parse(source) for path, source in sources.items()}
    ours = set().union(*map(own_names, trees.values()))
    read = set().union(*map(read_names, trees.values()))
    return {
        (path, name)
        for path, tree in trees.items()
        for name in [*private_parts(tree, ours), *overridden(tree, read)]
    }


def test_only_public_parts_of_others_are_used():
    sources = {str(path.relative_to(PACKAGE)): path.read_text() for path in PACKAGE.rglob("*.py")}
    found = found_in(sources)
    assert sorted(found - EXCEPTIONS.keys()) == []
    assert sorted(EXCEPTIONS.keys() - found) == [], "exceptions that nothing needs"


@pytest.mark.parametrize(
    "source, name",
    [
        ("from apache_beam.io.tfrecordio import _TFRecordUtil", "apache_beam.io.tfrecordio._TFRecordUtil"),
        ("from keras.src.layers import Dense", "keras.src.layers.Dense"),
        ("import numpy._core", "numpy._core"),
        ("import keras\nkeras.Model()._layers", "_layers"),
        ("class A(B):\n    def f(self):\n        return self._of_the_base", "_of_the_base"),
        ("class A(B):\n    def _hook(self):\n        pass", "_hook"),
    ],
)
def test_private_parts_are_noticed(source, name):
    assert found_in({"a.py": source}) == {("a.py", name)}


def test_own_names_and_documented_ones_are_not():
    own = "class A:\n    _x = 1\n    def f(self):\n        return self._g(self._x)\n    def _g(self, x): pass"
    other = "from firth.a import _h\na._x, b._replace(c=1), _h"
    assert found_in({"a.py": own, "b.py": other}) == set()
