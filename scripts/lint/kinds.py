"""Places that tell kinds apart, instead of reading a fact that each kind states on its own type.

A family is the types that one key of a recipe may have, one for each kind, such as models or steps.
A file tells kinds apart where it compares a kind, asks for a type, or holds a list or a table of its own.
"""

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping

import pydantic

from firth.recipes import Recipe
from firth.recipes.base.recipe_type import Config
from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.run.adapting import AdaptingRecipe
from scripts.lint.sources import Fault, Repository, Source, entry_fault

# Files with the one table of a family, and with tables of other things that have the names of kinds.
TABLES = {
    "corpus/curation/step_table.py": "cleaning steps",
    "corpus/decontamination/benchmarks.py": "evaluation data that is kept out of a corpus",
    "corpus/curation/outputs.py": "formats of a cleaned corpus",
    "corpus/readers/sources.py": "sources",
    "generation/samplers.py": "samplers of requests for a text",
    "interop/ctranslate2/generator.py": "samplers that CTranslate2 has too",
    "interop/peft/kinds.py": "methods that peft has too",
    "layers/blocks/transformer_stack.py": "positions that attention reads",
    "layers/blocks/input_embedding.py": "positions that are added to embeddings, the other half",
    "models/additions/addition_kinds.py": "methods whose additions do not merge",
    "models/model_kinds.py": "models; and heads, some of which are called as objectives are",
    "objectives/objective_kinds.py": "objectives",
    "recipes/counting/heads.py": "heads again, counted without Keras",
    "tasks/labelled/data_readers.py": "labelled data",
    "tasks/task_kinds.py": "tasks",
    "tokenizers/tokenizer_kinds.py": "tokenizers",
    "training/optimizers/optimizer_kinds.py": "optimizers",
    "training/optimizers/schedules.py": "schedules of the learning rate",
    "tuning/method_kinds.py": "methods that adapt a model",
}
# Files with lists of other things that have the names of kinds.
NOT_KINDS = {"recipes/reading/families.py": "families of presets, two of which are called as objectives are"}

Family = frozenset[type[pydantic.BaseModel]]


def families(root: type[pydantic.BaseModel]) -> set[Family]:
    """Returns the families of all keys of a recipe type and of the parts below it.

    Args:
        root: Recipe type.
    """
    found: set[Family] = set()
    seen, waiting = set(), [root]
    while waiting:
        config = waiting.pop()
        seen.add(config)
        below = [configs_in(field.annotation) for field in config.model_fields.values()]
        found |= {frozenset(each) for each in below if len(each) > 1 and all(map(kinds_of, each))}
        waiting += [each for each in itertools.chain(*below) if each not in seen]
    return found


def partial_types(family: Family) -> set[str]:
    """Returns the names of a family's types, and of the bases that only some of them have.

    Args:
        family: The types of one key.
    """
    bases = {base for config in family for base in config.__mro__ if issubclass(base, Config)}
    return {base.__name__ for base in bases if not all(issubclass(config, base) for config in family)}


FAMILIES = families(Recipe) | families(AdaptingRecipe) | families(GenerationRequest)
KINDS = [{kind for config in family for kind in kinds_of(config)} for family in FAMILIES]
ALL_KINDS = set().union(*KINDS)
TYPES = set().union(*map(partial_types, FAMILIES))


def faults(repository: Repository) -> Iterator[Fault]:
    """Yields a fault for each place that tells kinds apart, and for each entry that is not needed.

    Args:
        repository: The files.
    """
    sources = repository.sources
    tables = all_tables(sources)
    for place, source in sources.items():
        if place not in NOT_KINDS:
            for line, code in kinds_told_apart(source, tables):
                sentence = "tells kinds apart; state the fact on the type of each kind"
                yield source.fault(line, f"`{code}` {sentence}")
    for place in [*TABLES, *NOT_KINDS]:
        if place not in sources or not told_apart(sources[place], tables):
            yield entry_fault(__file__, place, "the file lists no kinds; remove the entry")


def all_tables(sources: Mapping[str, Source]) -> dict[str, set[str]]:
    """Returns the names of the tables in the files of `TABLES`, each with the classes that it holds.

    Args:
        sources: The files by their place.
    """
    found = [tables_of(sources[place]) for place in TABLES if place in sources]
    return {name: set().union(*(each.get(name, ()) for each in found)) for each in found for name in each}


def kinds_told_apart(source: Source, tables: Mapping[str, set[str]]) -> list[tuple[int, str]]:
    """Returns (line, code) of each place that tells kinds apart, but for the table of a file of `TABLES`.

    Args:
        source: The file.
        tables: Names of all tables, each with the names of its classes.
    """
    if source.place not in TABLES:
        return told_apart(source, tables)
    found = told_apart(source, tables_of(source))
    return [(line, code) for line, code in found if not code.startswith("{")]


def told_apart(source: Source, tables: Mapping[str, set[str]]) -> list[tuple[int, str]]:
    """Returns (line, code) of each place of a file that tells kinds apart.

    Args:
        source: The file.
        tables: Names of the tables that may be asked with a kind, each with the names of its classes.
    """
    return [
        (node.lineno, ast.unparse(node).splitlines()[0])
        for shapes, breaks in _rules(_holding_a_kind(source), tables)
        for node in source.nodes(*shapes)
        if breaks(node)
    ]


def tables_of(source: Source) -> dict[str, set[str]]:
    """Returns the names of the dicts that a file defines at its top, each with the classes that it holds.

    Args:
        source: The file.
    """
    assigned = [pair for node in source.tree.body for pair in _assigned(node)]
    return {name: set(map(_name, table.values)) for name, table in assigned if isinstance(table, ast.Dict)}


def _rules(holding: set[str], tables: Mapping[str, set[str]]) -> list[tuple[tuple[type, ...], Callable]]:
    types = TYPES.union(*tables.values()) - {""}

    def is_kind(node: ast.AST) -> bool:
        return _reads_kind(node) or (isinstance(node, ast.Name) and node.id in holding)

    def compares(node: ast.Compare) -> bool:
        parts = [node.left, *node.comparators]
        strings = _strings(node)
        if (any(map(is_kind, parts)) and strings & ALL_KINDS) or (any(map(_is_choice, parts)) and strings):
            return True
        if any(_name(part) == "__name__" for part in parts):
            return bool(strings & types)
        return any(_name(each) in types for part in parts for each in _items(part))

    def matches(node: ast.Match) -> bool:
        patterns = [each for case in node.cases for each in ast.walk(case.pattern)]
        asked = {_name(each.cls) for each in patterns if isinstance(each, ast.MatchClass)}
        keys = {key for each in patterns for key in _pattern_keys(each)}
        kinds = set().union(*map(_strings, (case.pattern for case in node.cases))) & ALL_KINDS
        return bool(asked & types or (kinds and (is_kind(node.subject) or "kind" in keys)))

    def calls(node: ast.Call) -> bool:
        if getattr(node.func, "id", "") in ("isinstance", "issubclass") and len(node.args) == 2:
            return any(_name(each) in types for each in ast.walk(node.args[1]))
        if not isinstance(node.func, ast.Attribute):
            return False
        if is_kind(node.func.value):
            return any(isinstance(each, ast.Constant) for each in node.args)
        return node.func.attr == "get" and looks_up(node.func.value, node.args[:1])

    def looks_up(table: ast.AST, keys: list[ast.expr]) -> bool:
        return _name(table).isupper() and _name(table) not in tables and any(map(is_kind, keys))

    return [
        ((ast.Compare,), compares),
        ((ast.Match,), matches),
        ((ast.Call,), calls),
        ((ast.Subscript,), lambda node: looks_up(node.value, [node.slice])),
        ((ast.Dict,), lambda node: _lists_kinds(node.keys)),
        ((ast.List, ast.Set, ast.Tuple), lambda node: _lists_kinds(node.elts, of_types=False)),
    ]


def _lists_kinds(items: list[ast.expr | None], of_types: bool = True) -> bool:
    """Returns true if some items are several kinds of one family, or types of kinds."""
    kinds = {each.value for each in items if isinstance(each, ast.Constant)}
    return any(len(kinds & family) > 1 for family in KINDS) or (
        of_types and any(_name(each) in TYPES for each in items)
    )


def _reads_kind(node: ast.AST) -> bool:
    """Returns true for an expression of a kind: `x.kind`, `x["kind"]`, `x.get("kind")` and the like."""
    if isinstance(node, ast.NamedExpr):
        return _reads_kind(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr == "kind"
    if isinstance(node, ast.Subscript):
        return _is_kind_key(node.slice)
    return (
        isinstance(node, ast.Call)
        and _name(node.func) in ("get", "getattr")
        and any(map(_is_kind_key, node.args))
    )


def _is_choice(node: ast.AST) -> bool:
    """Returns true for a name by which goals and models choose one another, or their heads."""
    if not isinstance(node, ast.Attribute):
        return False
    of_model = node.attr == "architecture" and _name(node.value) == "model"
    return of_model or node.attr in ("heads", "model_architecture")


def _holding_a_kind(source: Source) -> set[str]:
    """The names that a kind is given to somewhere in a file, and `kind` itself."""
    found = {"kind"}
    for node in source.nodes(ast.Assign, ast.AnnAssign, ast.NamedExpr):
        for name, value in _assigned(node):
            found |= {name} if _reads_kind(value) else set()
    return found


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) or node.value is None:
        return
    for target in getattr(node, "targets", None) or [node.target]:
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts))
        yield from ((name.id, value) for name, value in pairs if isinstance(name, ast.Name))


def _items(node: ast.AST) -> list[ast.AST]:
    return node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]


def _name(node: ast.AST | None) -> str:
    """The last part of a dotted name."""
    return getattr(node, "attr", "") or getattr(node, "id", "")


def _strings(node: ast.AST) -> set[str]:
    constants = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    return {each for each in constants if isinstance(each, str)}


def _pattern_keys(node: ast.AST) -> list[str]:
    if isinstance(node, ast.MatchClass):
        return node.kwd_attrs
    keys = node.keys if isinstance(node, ast.MatchMapping) else []
    return [key.value for key in keys if isinstance(key, ast.Constant)]


def _is_kind_key(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == "kind"
