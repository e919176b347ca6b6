"""All rules over a repository, whose files are read and parsed once."""

import gc
import pathlib
from collections.abc import Callable, Iterable

from scripts.lint import docstrings, files, imports, inits, kinds, layout, private_parts, prose
from scripts.lint.sources import Fault, Repository, read_repository

Rule = Callable[[Repository], Iterable[Fault]]
RULES: tuple[Rule, ...] = (
    imports.faults,
    layout.faults,
    docstrings.faults,
    inits.faults,
    kinds.faults,
    private_parts.faults,
    files.faults,
    prose.faults,
)


def main(root: pathlib.Path, rules: Iterable[Rule] = RULES) -> int:
    """Prints the faults of a repository, and returns the status to exit with.

    Args:
        root: The folder of BUILD, `firth` and `tests`.
        rules: Functions from a repository to its faults.
    """
    # The trees live until the end, and the collector would walk them again and again.
    gc.disable()
    try:
        repository = read_repository(root)
    except SyntaxError as error:
        found = {Fault(error.filename or "", error.lineno or 1, f"cannot be parsed: {error.msg}")}
    else:
        found = {fault for rule in rules for fault in rule(repository)}
    finally:
        gc.enable()
    for fault in sorted(found):
        print(fault)
    return int(bool(found))
