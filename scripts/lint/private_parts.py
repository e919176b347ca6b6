"""Private names of other libraries, which are used through their public parts only."""

import ast
from collections.abc import Iterable, Iterator

from scripts.lint.sources import PACKAGE, Fault, Repository, Source, entry_fault

# Public in spite of the underscore: documented for named tuples, for `ast` and for `os`.
DOCUMENTED = {"_asdict", "_exit", "_fields", "_make", "_replace"}
# Internal by their owners' documentation, without an underscore.
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
    ("components/data/corpus_exporter.py", "_make_beam_pipeline"): _EXECUTORS,
    ("components/data/curator.py", "_make_beam_pipeline"): _EXECUTORS,
    ("components/data/sequence_gen.py", "_make_beam_pipeline"): _EXECUTORS,
    ("components/data/tokenizer_gen.py", "_make_beam_pipeline"): _EXECUTORS,
    ("serving/slots/signatures.py", "_create_resource"): _RESOURCE,
    ("serving/slots/signatures.py", "_initialize"): _RESOURCE,
    ("tokenizers/graph/sentencepiece_model.py", "_create_resource"): _RESOURCE,
    ("tokenizers/piece_tokenizer.py", "_add_special_token"): "KerasHub's tokenizers name special pieces so",
    ("training/optimizers/summed_gradients.py", "_all_reduce_sum_gradients"): _OPTIMIZERS,
    ("training/optimizers/summed_gradients.py", "_clip_gradients"): _OPTIMIZERS,
    ("training/optimizers/summed_gradients.py", "_get_variable_index"): _INDEX,
}


def faults(repository: Repository) -> Iterator[Fault]:
    """Yields a fault for each private part of others, and for each exception that nothing needs.

    Args:
        repository: The files.
    """
    found = list(uses(repository.sources.values()))
    for source, line, name, sentence in found:
        if (source.place, name) not in EXCEPTIONS:
            yield source.fault(line, sentence)
    needed = {(source.place, name) for source, _, name, _ in found}
    for place, name in EXCEPTIONS.keys() - needed:
        yield entry_fault(__file__, place, f"the exception for {name} is not needed; remove it")


def uses(sources: Iterable[Source]) -> Iterator[tuple[Source, int, str, str]]:
    """Yields (file, line, name, sentence) for each private name of others in some files.

    Args:
        sources: The files. A private name that one of them gives is not another's.
    """
    sources = list(sources)
    ours = set().union(*map(own_names, sources))
    read = set().union(*map(read_names, sources))
    for source in sources:
        for line, name in private_parts(source, ours):
            yield source, line, name, f"{name} is private to its library; use a public part"
        for line, name in overridden(source, read):
            yield source, line, name, f"{name} is called by no file of {PACKAGE}; override a public method"


def is_private(name: str) -> bool:
    """Returns true if a part of a dotted name is private.

    Args:
        name: The part, such as `_layers`.
    """
    return name.startswith("_") and not name.startswith("__") and name not in DOCUMENTED and name != "_"


def own_names(source: Source) -> set[str]:
    """Returns the private names that a file gives to something.

    Args:
        source: The file.
    """
    names = {node.name for node in source.nodes(ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)}
    names |= {node.id for node in source.nodes(ast.Name) if _stores(node)}
    names |= {node.attr for node in source.nodes(ast.Attribute) if _stores(node)}
    return set(filter(is_private, names))


def read_names(source: Source) -> set[str]:
    """Returns the private names that a file reads or imports.

    Args:
        source: The file.
    """
    names = {node.id for node in source.nodes(ast.Name) if not _stores(node)}
    names |= {node.attr for node in source.nodes(ast.Attribute) if not _stores(node)}
    names |= {each.name for node in source.nodes(ast.ImportFrom) for each in node.names}
    return set(filter(is_private, names))


def private_parts(source: Source, ours: set[str]) -> Iterator[tuple[int, str]]:
    """Yields (line, name) of the private names of others that a file imports or reads.

    Args:
        source: The file.
        ours: Private names that some file of the package gives.
    """
    for node in source.nodes(ast.Import):
        yield from ((node.lineno, each.name) for each in node.names if _is_internal(each.name))
    for node in source.nodes(ast.ImportFrom):
        if not (node.module or "").startswith(PACKAGE):
            names = [f"{node.module}.{each.name}" for each in node.names]
            yield from ((node.lineno, name) for name in names if _is_internal(name))
    for node in source.nodes(ast.Attribute):
        if is_private(node.attr) and node.attr not in ours:
            yield node.lineno, node.attr


def overridden(source: Source, read: set[str]) -> Iterator[tuple[int, str]]:
    """Yields (line, name) of private methods that no file of the package calls: a library must.

    Args:
        source: The file.
        read: Private names that some file of the package reads.
    """
    for node in source.nodes(ast.ClassDef):
        functions = [each for each in node.body if isinstance(each, ast.FunctionDef)]
        # A decorated method is called by the owner of the decorator.
        for each in (each for each in functions if not each.decorator_list):
            if is_private(each.name) and each.name not in read:
                yield each.lineno, each.name


def _is_internal(name: str) -> bool:
    return name.startswith(INTERNAL) or any(map(is_private, name.split(".")))


def _stores(node: ast.Name | ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Store)
