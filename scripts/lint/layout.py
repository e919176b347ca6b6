"""Layout of the package: folders with targets, sizes of files and folders, names of classes and of tests."""

import ast
import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from scripts.lint.imports import ROOT_FILES, imported_names, nearest
from scripts.lint.sources import PACKAGE, Fault, Repository, Source, entry_fault, line_of

MOST_LINES = 500
MOST_MODULES = 24
# Tests, and folders of tests, that test something outside of `firth/`, or all of it.
OUTSIDE = {
    "additions_test": "what an addition to any folder touches",
    "beam_lookups_test": "Beam, in the tests of every folder",
    "docs": "README.md, the site, and scripts/docs",
    "fresh_process_test": "tests/fresh_process.py",
    "graph_lookups_test": "TensorFlow, in the tests of firth/serving",
    "house_test": "scripts/house.py",
    "lint": "scripts/lint",
    "lookups_test": "Keras and TensorFlow, in the tests of every folder",
    "made_once_test": "tests/made_once.py",
    "parts_test": "tests/parts.py",
    "pipelines/examples_scripts_test": "examples/",
    "pipelines/examples_test": "examples/",
    "setup_test": "setup.py",
    "shared_data_test": "../shared/data and its twins",
}


def faults(repository: Repository) -> Iterator[Fault]:
    """Yields a fault for each file, folder, class or test that is not where it should be.

    Args:
        repository: The files.
    """
    yield from target_faults(repository)
    yield from size_faults(repository)
    yield from class_faults(repository.sources.values())
    yield from mirror_faults(repository)
    for name in OUTSIDE.keys() - repository.tests - {test.rpartition("/")[0] for test in repository.tests}:
        yield entry_fault(__file__, name, "no test has this name; remove the entry")


def target_faults(repository: Repository) -> Iterator[Fault]:
    """Yields a fault for each folder without a target, and for each target without a folder.

    A room belongs to its folder's target if the two import each other, for targets may not.

    Args:
        repository: The files.
    """
    targets = repository.targets.keys()
    files = {place for place in repository.sources if "/" not in place and place not in ROOT_FILES}
    wanted = {place.removesuffix(".py"): place for place in files}
    wanted |= {parts[0]: place for place in repository.sources if len(parts := place.split("/")) == 2}
    rooms = {
        place.removesuffix("/__init__.py"): place
        for place in repository.sources
        if place.endswith("/__init__.py") and place.count("/") == 2
    }
    shared = rooms_in_cycles(repository, rooms.keys() - targets)
    wanted |= {room: place for room, place in rooms.items() if room not in shared}
    for name in sorted(wanted.keys() - targets):
        sentence = f'{name} has no target in BUILD; add one with name = "{name}" and its deps'
        yield Fault(f"{PACKAGE}/{wanted[name]}", 1, sentence)
    for name in sorted(targets - wanted.keys() - {PACKAGE}):
        line = line_of(repository.build, f'name = "{name}"')
        yield Fault("BUILD", line, f"the target {name} has no folder or file in {PACKAGE}/")
    if PACKAGE not in targets:
        yield Fault("BUILD", 1, f'no target has name = "{PACKAGE}", to which {PACKAGE}/__init__.py belongs')


def rooms_in_cycles(repository: Repository, rooms: Collection[str]) -> set[str]:
    """Returns the rooms that import the rest of their folder's target, and that it imports.

    Args:
        repository: The files.
        rooms: Rooms without a target, such as `models/backbones`.
    """
    names = {**repository.targets, **dict.fromkeys(rooms)}
    edges = set[tuple[str, str]]()
    for source in (*repository.sources.values(), *repository.stubs.values()):
        home = nearest(source.place.split("/")[:-1], names)
        for node in source.nodes(ast.Import, ast.ImportFrom):
            for name in imported_names(node, source.place):
                top, *parts = name.split(".")
                if top == PACKAGE:
                    edges.add((home, nearest(parts, names)))
    found = set()
    for room in rooms:
        folder = room.partition("/")[0]
        rest = {folder, *(each for each in rooms if each.startswith(f"{folder}/"))} - {room}
        imports = any((room, each) in edges for each in rest)
        if imports and any((each, room) in edges for each in rest):
            found.add(room)
    return found


def size_faults(repository: Repository) -> Iterator[Fault]:
    """Yields a fault for each file with too many lines, and each folder with too many modules.

    Args:
        repository: The files.
    """
    modules: Counter[str] = Counter()
    for place, source in repository.sources.items():
        folder, _, name = place.rpartition("/")
        modules[folder] += name != "__init__.py"
        if (lines := len(source.text.splitlines())) > MOST_LINES:
            yield source.fault(MOST_LINES + 1, f"{lines} lines in a file; at most {MOST_LINES}, so split it")
    for folder, count in modules.items():
        if count > MOST_MODULES:
            path = "/".join(filter(None, (PACKAGE, folder, "__init__.py")))
            yield Fault(path, 1, f"{count} modules in a folder; at most {MOST_MODULES}, so make rooms in it")


def class_faults(sources: Iterable[Source]) -> Iterator[Fault]:
    """Yields a fault for each public class that has the name of an earlier one.

    A recipe type and the class that is built from it have two names. Each component of TFX has an `Executor`.

    Args:
        sources: The files.
    """
    places: dict[str, list[tuple[Source, int]]] = {}
    for source in sources:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append((source, node.lineno))
    for name, found in places.items():
        executors = [each for each in found if name == "Executor" and each[0].place.startswith("components/")]
        first, *others = [*executors, *(each for each in found if each not in executors)]
        for source, line in others[max(0, len(executors) - 1) :]:
            yield source.fault(line, f"another class is called {name}: {first[0].path}:{first[1]}")


def mirror_faults(repository: Repository) -> Iterator[Fault]:
    """Yields a fault for each test whose name is not that of a module or folder of the package.

    `x_test.py` or `x_<theme>_test.py` tests the module or folder `x`, or the folder that it is in.

    Args:
        repository: The files.
    """
    names = subjects({place.removesuffix(".py") for place in repository.sources} | repository.folders)
    for test in sorted(repository.tests):
        folder, _, name = test.rpartition("/")
        if not {test, folder} & OUTSIDE.keys() and not is_placed(test, names):
            placed = [f"{each}_test" for each in sorted(names.get(folder, ()))]
            near = difflib.get_close_matches(name, placed, n=1, cutoff=0.8)
            hint = f"; did you mean {near[0]}.py?" if near else ""
            where = "/".join(filter(None, (PACKAGE, folder)))
            sentence = f"the test has the name of no module or folder in {where}{hint}"
            yield Fault(f"tests/{test}.py", 1, sentence)


def is_placed(test: str, names: Mapping[str, set[str]]) -> bool:
    """Returns true for a test named after a module or folder in its folder of the package, or that folder.

    Args:
        test: Path of the test from the folder of tests, without a suffix.
        names: Names of the modules and folders in each folder of the package.

    Example:

    >>> names = {"layers/heads": {"pooling"}}
    >>> is_placed("layers/heads/pooling_theme_test", names), is_placed("layers/pooling_test", names)
    (True, False)
    """
    folder, _, name = test.removesuffix("_test").rpartition("/")
    own = {folder.rpartition("/")[2]} - {""}
    return any(f"{name}_".startswith(f"{each}_") for each in own | names.get(folder, set()))


def subjects(modules: Iterable[str]) -> dict[str, set[str]]:
    """Returns the names of the modules and folders in each folder of the package.

    Args:
        modules: Paths of modules and folders from the package's folder, without a suffix.
    """
    found: dict[str, set[str]] = {}
    for module in modules:
        folder, _, name = module.rpartition("/")
        found.setdefault(folder, set()).add(name)
    return found
