"""YAML as recipes use it: JSON's values only, numbers as people write them, and a place for every key."""

import dataclasses
import math
import re
from typing import Any

import yaml

from firth.recipes.base.errors import RecipeError

# A recipe of every key written out has about 200 values, five deep, in 5 kB.
MAX_BYTES = 2**18
MAX_VALUES = 20_000
MAX_DEPTH = 50


class BoundError(yaml.MarkedYAMLError):
    """A text holds too many values, or nests them too deeply."""


class BoundedLoader(yaml.SafeLoader):
    """Refuses too much while it reads, before Python's stack ends or minutes pass."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = self._values = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Composes a node, as its base class does.

        Raises:
            BoundError: if the text holds too many values, or nests them too deeply.
        """
        self._values += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"nested more than {MAX_DEPTH} deep")
        if self._values > 2 * MAX_VALUES:  # A key is a node too.
            raise self._error(f"more than {MAX_VALUES:,} values")
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def _error(self, problem: str) -> BoundError:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # PyYAML's stubs leave it untyped
        return BoundError(problem=problem, problem_mark=event.start_mark)


# ruamel.yaml keeps positions too, but costs more than the few lines here that do: it imports in 130 ms
# (PyYAML in 20) and reads a preset in 43 ms (these lines in 17). It takes 010 for 10 and 2024-01-01 for a
# date, passes over `!!python/object`, and opens aliases of aliases without a bound: scalars and bounds
# would still be ours.
Path = tuple[str, ...]
MOST_PROBLEMS = 50

_FLOAT = re.compile(
    r"[-+]?(?:(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+)$"
)
_RESOLVERS = (
    ("bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), "tTfF"),
    ("null", re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    ("int", re.compile(r"[-+]?(?:0|[1-9][0-9_]*)$"), "-+0123456789"),
    ("float", _FLOAT, "-+.0123456789"),
)


class _Loader(BoundedLoader):
    """YAML 1.2's plain scalars: `1e-4` is a float, and neither `no`, `010` nor `2024-01-01` is a surprise."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 (declared so by the base class)


class _Dumper(yaml.SafeDumper):
    """Quotes whatever a YAML 1.1 reader or `_Loader` would take for something else than a string."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        return super().increase_indent(flow, False)

    def represent_text(self, text: str) -> yaml.Node:
        # PyYAML folds Unicode's own line ends into plain ones, unless double quotes let it escape them.
        style = '"' if any(end in text for end in "\x85\u2028\u2029") else None
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _Dumper.represent_text)

for _name, _pattern, _first in _RESOLVERS:
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", _pattern, list(_first))


_COLLECTIONS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


@dataclasses.dataclass(frozen=True)
class Located:
    """The values of a YAML text, and the place of each.

    Attributes:
        data: Dicts, lists and scalars.
        places: Places, `file:line:column`, by path of keys and indices.
    """

    data: Any
    places: dict[Path, str]


def read_yaml(text: str, file: str) -> Located:
    """Reads one YAML document.

    Example:

    >>> read_yaml("training: {steps: 10, rate: 1e-4}", "a.yaml").data
    {'training': {'steps': 10, 'rate': 0.0001}}
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        reader = _Reader(loader, file)
        data = None if node is None else reader.value(node, ())
    except yaml.YAMLError as error:
        raise RecipeError([_syntax_problem(error, file)]) from None
    if reader.problems:
        raise RecipeError(reader.problems[:MOST_PROBLEMS])
    return Located(data, reader.places)


def parse_value(text: str) -> Any:
    """Returns the value of a YAML text.

    Example:

    >>> parse_value("1e-4"), parse_value("null"), parse_value("[a, 2]"), parse_value("no")
    (0.0001, None, ['a', 2], 'no')
    """
    try:
        return read_yaml(text, "").data
    except RecipeError as error:
        raise RecipeError([problem.split(": ", 1)[1] for problem in error.problems]) from None


def write_yaml(data: Any) -> str:
    """Returns YAML that `read_yaml` reads back equal.

    Example:

    >>> print(write_yaml({"name": "1e-4", "rate": 1e-4, "paths": ["a"]}), end="")
    name: '1e-4'
    rate: 0.0001
    paths:
      - a
    """
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


class _Reader:
    """Turns YAML nodes into values, noting the place of each and collecting problems."""

    def __init__(self, loader: yaml.SafeLoader, file: str) -> None:
        self.places: dict[Path, str] = {}
        self.problems: list[str] = []
        self._loader, self._file, self._values = loader, file, 0

    def value(self, node: yaml.Node, path: Path) -> Any:
        self.places.setdefault(path, _place(self._file, node.start_mark))
        self._require_bounds(node, path)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        if node.tag not in _COLLECTIONS:
            self._report(node, path, f"the tag {node.tag} is not known")
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, str(index))) for index, item in enumerate(node.value)]
        assert isinstance(node, yaml.MappingNode)
        return self._mapping(node, path)

    def _require_bounds(self, node: yaml.Node, path: Path) -> None:
        """Counts values as often as aliases repeat them, and ends the reading where they are too many."""
        self._values += 1
        if self._values > MAX_VALUES:
            self._report(node, (), f"more than {MAX_VALUES:,} values, each alias written out")
        elif len(path) > MAX_DEPTH:
            self._report(node, (), f"nested more than {MAX_DEPTH} deep, or an alias that contains itself")
        else:
            return
        raise RecipeError(self.problems[-1:])

    def _scalar(self, node: yaml.ScalarNode, path: Path) -> Any:
        try:
            value = self._loader.construct_object(node)
        # What PyYAML raises for a tag that the text does not fit.
        except (ValueError, LookupError, AttributeError):
            value = math.nan
        if not _in_json(value):
            self._report(node, path, f"{_short(node.value)} is neither text, number, true, false nor null")
        return value

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._scalar(key_node, path) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str):
                shown = _short(key_node.value) if isinstance(key_node, yaml.ScalarNode) else "a collection"
                self._report(key_node, path, f"the key {shown} is not text")
                continue
            here = (*path, key)
            if key in result:
                self._report(key_node, here, f"given twice, first at {self.places[here]}")
                continue
            self.places[here] = _place(self._file, key_node.start_mark)
            result[key] = self.value(value_node, here)
        return result

    def _report(self, node: yaml.Node, path: Path, problem: str) -> None:
        key = f"{'.'.join(path)}: " if path else ""
        self.problems.append(f"{_place(self._file, node.start_mark)}: {key}{problem}")


def _short(text: str) -> str:
    return repr(text) if len(text) <= 60 else f"{text[:57]!r}..."


def _in_json(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    return value is None or isinstance(value, int)


def _place(file: str, mark: yaml.Mark) -> str:
    return f"{file}:{mark.line + 1}:{mark.column + 1}"


def _syntax_problem(error: yaml.YAMLError, file: str) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        context = f", {error.context}" if error.context else ""
        said = "" if isinstance(error, BoundError) else "not YAML: "
        return f"{_place(file, error.problem_mark)}: {said}{error.problem}{context}"
    return f"{file}: not YAML: {' '.join(str(error).split())}"
