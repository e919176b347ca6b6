"""Work whose noise goes to a log, which stays only if something unexpected happens."""

import os
import pathlib
import tempfile
from collections.abc import Callable, Mapping
from typing import TypeVar

from firth.cli.output import ExitCode, fail

Made = TypeVar("Made")


def quietly(work: Callable[[], Made], name: str, expected: Mapping[type[Exception], ExitCode]) -> Made:
    """Returns what a function returns. What TensorFlow prints meanwhile goes to a file.

    Ends the command if the function raises: with the sentence of an expected error, or with the name of the
    log.

    Args:
        work: Function of no arguments.
        name: Name of the subcommand, for the log's name.
        expected: Errors that say by themselves what is wrong, with the status that the process ends with.
    """
    from firth.pipelines.logs import output_in

    descriptor, log = tempfile.mkstemp(prefix=f"firth-{name}-", suffix=".log")
    os.close(descriptor)
    try:
        with output_in(pathlib.Path(log)):
            made = work()
    except tuple(expected) as error:
        os.remove(log)
        fail(str(error), next(code for kind, code in expected.items() if isinstance(error, kind)))
    except Exception as error:
        fail(f"{type(error).__name__}: {error}\nThe log is {log}.")
    os.remove(log)
    return made
