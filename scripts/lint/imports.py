"""Imports that BUILD does not allow, imports that are slow to load, and cycles in BUILD."""

import ast
import difflib
import sys
from collections.abc import Iterator, Mapping

from scripts.docs.build_file import Target
from scripts.lint.sources import PACKAGE, Fault, Repository, Source, line_of

# Import names that differ from the distribution's.
DISTRIBUTIONS = {
    "absl": "absl_py",
    "icu": "pyicu_wheels",
    "stdnum": "python_stdnum",
    "sklearn": "scikit_learn",
    "yaml": "pyyaml",
    "tensorflow_serving": "tensorflow_serving_api",
    "google": "protobuf",
    "grpc": "grpcio",
    "grpc_health": "grpcio_health_checking",
}
# They belong to the target of the whole package.
ROOT_FILES = {"__init__.py", "__main__.py"}


def faults(repository: Repository) -> Iterator[Fault]:
    """Yields a fault for each import and each dep that is not allowed.

    Args:
        repository: The files.
    """
    yield from dep_faults(repository.targets, repository.build)
    for source in repository.sources.values():
        yield from import_faults(source, repository.targets, repository.build)


def target_of(place: str, targets: Mapping[str, Target]) -> str:
    """Returns the name of the target that a file belongs to.

    Args:
        place: Path from the package's folder.
        targets: Targets of BUILD.
    """
    *folders, name = place.split("/")
    if not folders:
        return PACKAGE if name in ROOT_FILES else name.removesuffix(".py")
    return nearest(folders, targets)


def nearest(parts: list[str], targets: Mapping[str, Target]) -> str:
    """Returns the target of the innermost folder that has one of its own: a room's, or its folder's.

    Args:
        parts: Names of folders from the outermost one, and of what is in them.
        targets: Targets of BUILD.
    """
    names = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in names if name in targets), PACKAGE)


def allowed(imported: str, home: str, deps: set[str]) -> bool:
    """Returns true if a target may import another one.

    Who may import a folder may import its rooms. The folder itself and its rooms import a room only as their
    deps say.

    Args:
        imported: Name of the imported target.
        home: Name of the importing target.
        deps: Targets that it may import.
    """
    folder = imported.split("/")[0]
    return imported == home or imported in deps or (folder in deps and folder != home.split("/")[0])


def import_faults(source: Source, targets: Mapping[str, Target], build: str = "") -> Iterator[Fault]:
    """Yields a fault for each import of a file that is not allowed.

    Args:
        source: The file.
        targets: Targets of BUILD.
        build: Content of BUILD, whose lines the sentences name.
    """
    home = target_of(source.place, targets)
    if home not in targets:
        # `layout` reports it.
        return
    for node in source.nodes(ast.Import, ast.ImportFrom):
        for name in imported_names(node, source.place):
            top, *rest = name.split(".")
            if getattr(node, "level", 0):
                yield source.fault(node.lineno, f"relative import; write `{name}`")
            elif name.startswith("tfx.v1"):
                sentence = f"`{name}` loads the clients of all services; import the module that has the part"
                yield source.fault(node.lineno, sentence)
            if top == PACKAGE:
                if not allowed(nearest(rest, targets), home, targets[home].targets):
                    yield source.fault(node.lineno, _refusal(home, name, build))
            elif top not in sys.stdlib_module_names:
                distribution = DISTRIBUTIONS.get(top, top)
                if distribution not in targets[home].distributions:
                    yield source.fault(node.lineno, _refusal(home, distribution, build))


def _refusal(home: str, name: str, build: str) -> str:
    return f"{home} may not import {name}: it is not in the deps at BUILD:{_line(home, build)}"


def imported_names(node: ast.Import | ast.ImportFrom, place: str) -> list[str]:
    """Returns the dotted names of an import, those of a relative one from the package.

    Args:
        node: The statement.
        place: Path of its file from the package's folder.
    """
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    module = node.module
    if node.level:
        folders = [PACKAGE, *place.split("/")][: -node.level]
        module = ".".join([*folders, *filter(None, [node.module])])
    return [f"{module}.{alias.name}" for alias in node.names]


def dep_faults(targets: Mapping[str, Target], build: str) -> Iterator[Fault]:
    """Yields a fault for each dep that is not a target, or that closes a cycle.

    Args:
        targets: Targets of BUILD.
        build: Content of BUILD.
    """
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> Iterator[Fault]:
        if name in above:
            cycle = " -> ".join([*above[above.index(name) :], name])
            yield Fault("BUILD", _line(above[-1], build), f"the targets import each other: {cycle}")
        elif name not in done:
            done.add(name)
            for dep in sorted(targets[name].targets):
                if dep in targets:
                    yield from visit(dep, (*above, name))
                else:
                    yield Fault("BUILD", _line(name, build), f"{name}: {_unknown(dep, targets)}")

    for name in targets:
        yield from visit(name, ())


def _unknown(dep: str, targets: Mapping[str, Target]) -> str:
    near = difflib.get_close_matches(dep, targets, n=1)
    hint = f'; did you mean ":{near[0]}"?' if near else ""
    return f'the dep ":{dep}" is not a target{hint}'


def _line(target: str, build: str) -> int:
    return line_of(build, f'name = "{target}"')
