"""Work whose noise goes to a log, which stays only if something unexpected happens."""

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from firth.cli.output import ExitCode, fail

Made = TypeVar("Made")


def quietly(
    work: Callable[[], Made], name: str, expected: Mapping[type[Exception], ExitCode], verbose: bool = False
) -> Made:
    """Returns what a function returns. What TensorFlow prints meanwhile goes to a file.

    Ends the command if the function raises: with the sentence of an expected error, or with the name of the
    log.

    Args:
        work: Function of no arguments.
        name: Name of the subcommand, for the log's name.
        expected: Errors that say by themselves what is wrong, with the status that the process ends with.
        verbose: True to let everything be printed; an error that is not expected then ends the process.
    """
    try:
        with contextlib.nullcontext() if verbose else _logged(name, tuple(expected)):
            made = work()
    except tuple(expected) as error:
        fail(str(error), next(code for kind, code in expected.items() if isinstance(error, kind)))
    return made


@contextlib.contextmanager
def _logged(name: str, expected: tuple[type[Exception], ...]) -> Iterator[None]:
    from firth.pipelines.logs import output_in

    descriptor, log = tempfile.mkstemp(prefix=f"firth-{name}-", suffix=".log")
    os.close(descriptor)
    try:
        with output_in(pathlib.Path(log)):
            yield
    except expected:
        os.remove(log)
        raise
    except Exception as error:
        fail(f"{type(error).__name__}: {error}\nThe log is {log}.")
    os.remove(log)
