"""Draws mutants of `firth/` with cosmic-ray's operators: `sample.py CHECKOUT FILE [COUNT [SEED]]`.

Each folder of the package gets a share by its lines of code. In a folder, places are drawn by a hash of the
seed, the module, the function and the code of the place, so that a change elsewhere leaves the draw as it is.
One operator of those that fit the place is drawn likewise. It runs in an environment that has cosmic-ray
(`make mutants`).
"""

import ast
import collections
import difflib
import hashlib
import itertools
import json
import pathlib
import sys
from collections.abc import Iterator

import parso.python.tree  # noqa: F401  # Before cosmic_ray, which imports half of it.
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.ast.ast_query import ASTQuery
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

# Without its decorator, hardly a class or fixture can be used at all: such mutants show nothing.
LEFT_OUT = ("no-op", "remove-decorator", "RemoveDecorator", "NoOp")


def main(checkout: str, output: str, count: str = "120", seed: str = "36") -> None:
    """Writes the mutants as JSON.

    Args:
        checkout: Folder of the checkout.
        output: File to write.
        count: Number of mutants.
        seed: Seed of the draw.
    """
    root = pathlib.Path(checkout)
    modules: dict[str, list[pathlib.Path]] = collections.defaultdict(list)
    for path in sorted((root / "firth").rglob("*.py")):
        parts = path.relative_to(root / "firth").parts
        modules[parts[0] if len(parts) > 1 else "."].append(path)
    lines = {folder: sum(map(code_lines, paths)) for folder, paths in modules.items()}
    found = []
    for folder, quota in shares(lines, int(count)).items():
        found += drawn(root, modules[folder], quota, seed)
    pathlib.Path(output).write_text(json.dumps(found, indent=1))
    print(f"{len(found)} mutants of {len(modules)} folders in {output}")


def code_lines(path: pathlib.Path) -> int:
    """Returns the number of lines that hold a statement."""
    return len({node.lineno for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.stmt)})


def shares(lines: dict[str, int], count: int) -> dict[str, int]:
    """Returns the mutants of each folder, in proportion to its lines."""
    exact = {folder: count * each / sum(lines.values()) for folder, each in lines.items()}
    rounded = {folder: int(each) for folder, each in exact.items()}
    for folder in sorted(exact, key=lambda folder: rounded[folder] - exact[folder])[
        : count - sum(rounded.values())
    ]:
        rounded[folder] += 1
    return rounded


def drawn(root: pathlib.Path, paths: list[pathlib.Path], count: int, seed: str) -> Iterator[dict]:
    """Returns the mutants that a folder's modules give, no two of one place."""
    places = sorted((rank(seed, key), path, key) for path in paths for key in places_of(root, path))
    mutants = (mutant_of(root, path, key, seed) for _, path, key in places)
    return itertools.islice(filter(None, mutants), count)


def mutant_of(root: pathlib.Path, path: pathlib.Path, key: str, seed: str) -> dict | None:
    """Returns the mutant of a place, or None if no operator makes a program of it."""
    before = path.read_text()
    for operator, occurrence in sorted(
        places_of(root, path)[key], key=lambda each: rank(seed, f"{key} {each}")
    ):
        after = mutate_code(before, get_operator(operator)(), occurrence)
        if is_program(after):
            diff = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
            return {
                "path": str(path.relative_to(root)),
                "line": changed_line(before, after),
                "operator": operator,
                "diff": [line for line in diff if not line.startswith(("---", "+++", "@@"))],
                "source": after,
            }
    return None


def is_program(source: str) -> bool:
    """Returns whether Python can parse a source."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def rank(seed: str, key: str) -> str:
    """Returns the key by which places and operators are sorted."""
    return hashlib.sha256(f"{seed} {key}".encode()).hexdigest()


_PLACES: dict[pathlib.Path, dict[str, list[tuple[str, int]]]] = {}


def places_of(root: pathlib.Path, path: pathlib.Path) -> dict[str, list[tuple[str, int]]]:
    """Returns the operators that fit each place of a module, each with its occurrence."""
    if path not in _PLACES:
        source = path.read_text()
        not_run = annotation_places(source)
        nodes = list(ast_nodes(get_ast(source)))
        found: dict[tuple, list[tuple[str, int]]] = collections.defaultdict(list)
        for name in operator_names():
            operator_class = get_operator(name)
            if name.endswith(LEFT_OUT) or operator_class.arguments():
                continue
            operator = operator_class()
            positions = [(node, place) for node in nodes for place in operator.mutation_positions(node)]
            for occurrence, (node, (start, end)) in enumerate(positions):
                if not any(first <= start <= last for first, last in not_run):
                    found[start, end, ASTQuery(node).get_definition_name()].append((name, occurrence))
        counts: collections.Counter = collections.Counter()
        keyed = {}
        for (start, _end, definition), choices in sorted(found.items(), key=lambda item: item[0][:2]):
            line = source.splitlines()[start[0] - 1].strip()
            key = f"{path.relative_to(root)} {definition} {line}"
            counts[key] += 1
            keyed[f"{key} {counts[key]}"] = choices
        _PLACES[path] = keyed
    return _PLACES[path]


def annotation_places(source: str) -> list[tuple]:
    """Returns the first and last place of each annotation."""
    found = []
    for node in ast.walk(ast.parse(source)):
        for each in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if each is not None:
                found.append(((each.lineno, each.col_offset), (each.end_lineno, each.end_col_offset)))
    return found


def changed_line(before: str, after: str) -> int:
    """Returns the first line that differs."""
    pairs = zip(before.splitlines(), after.splitlines())
    return next(number for number, (one, other) in enumerate(pairs, start=1) if one != other)


if __name__ == "__main__":
    main(*sys.argv[1:])
