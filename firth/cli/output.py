"""Output of the command: exit codes, errors, notes, and logs of noisy work that are kept after an error."""

import contextlib
import enum
import importlib.util
import os
import pathlib
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn, TypeVar

import typer

from firth import storage

if TYPE_CHECKING:
    from rich.console import Console

Made = TypeVar("Made")
# Lines of Abseil's logs below errors, and the one that comes before the first of them.
_LOG = re.compile(rb"WARNING: All log messages before absl::InitializeLog\(\)|[IW]\d{4} ")

# Beam loads clients of BigQuery and MongoDB where it finds them, and Keras plots.
OF_RUNS = ("google.cloud.bigquery", "google.cloud.bigquery_storage_v1", "matplotlib.pyplot", "pymongo")
# Keras and TensorFlow work without these. Loading them takes a third of the time of `import tensorflow`.
OF_MODELS = ("IPython", "googleapiclient", "matplotlib", "pandas", "sklearn")


class ExitCode(enum.IntEnum):
    """The status of the process, for the shell."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_BLESSED = 3
    INTERRUPTED = 130
    TERMINATED = 143


def print_error(message: str) -> None:
    """Prints a message on standard error, the first line marked as an error."""
    typer.secho("error: ", err=True, fg=typer.colors.RED, bold=True, nl=False)
    typer.echo(message, err=True)


def fail(message: str, code: ExitCode = ExitCode.FAILED) -> NoReturn:
    """Prints an error and ends the command."""
    print_error(message)
    raise typer.Exit(int(code))


@contextlib.contextmanager
def usage_errors(kind: type[Exception]) -> Iterator[None]:
    """Ends the command with the message of an error of a kind, as one of usage."""
    try:
        yield
    except kind as error:
        fail(str(error), ExitCode.USAGE)


def note(message: str) -> None:
    """Prints a remark on standard error."""
    typer.secho("note: ", err=True, fg=typer.colors.YELLOW, nl=False)
    typer.echo(message, err=True)


def terminal(err: bool = False) -> "Console":
    """Returns a console on a duplicate of standard output, or of standard error.

    Drawings on it still reach the terminal while the stream itself is redirected to a log.
    """
    from rich.console import Console

    given = sys.stderr if err else sys.stdout
    try:
        descriptor = os.dup(given.fileno())
    except OSError:  # It is not a file, as in tests.
        return Console(highlight=False, soft_wrap=True, stderr=err)
    stream = os.fdopen(descriptor, "w", encoding=given.encoding, errors="replace", buffering=1)
    return Console(file=stream, highlight=False, soft_wrap=True)


def run_quietly(
    work: Callable[[], Made], name: str, expected: Mapping[type[Exception], ExitCode], verbose: bool = False
) -> Made:
    """Returns the result of a function. The output of TensorFlow meanwhile goes to a file.

    Ends the command if the function raises: with the sentence of an expected error, or with the name of the
    log.
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

    # It goes with the process, unless somebody has to read it.
    descriptor, log = tempfile.mkstemp(prefix=f"firth-{name}-", suffix=".log")
    os.close(descriptor)
    try:
        with output_in(pathlib.Path(log)):
            yield
    except expected:
        os.remove(log)
        raise
    except Exception as error:
        kept = os.path.join(storage.lasting_temporary_folder(), os.path.basename(log))
        storage.move(log, kept)
        fail(f"{type(error).__name__}: {error}\nThe log is {kept}.")
    os.remove(log)


@contextlib.contextmanager
def packages_hidden(names: Sequence[str] = OF_RUNS) -> Iterator[None]:
    """Makes optional packages look absent while the block imports TensorFlow, Beam or TFX.

    What is loaded already stays as it is. After the block a package can be imported, but modules that were
    imported inside continue without it.

    Args:
        names: Names of the packages, or of modules in them.

    Example:

    >>> with packages_hidden(["pymongo"]):
    ...     pass
    """
    hidden = [] if "tensorflow" in sys.modules else [name for name in names if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)


def import_without_logs(name: str) -> None:
    """Hides the logs of a package to the file descriptor of stderr during its later import.

    TensorFlow 2.21 logs while it is loaded, whatever `TF_CPP_MIN_LOG_LEVEL` is. Errors are shown.
    """
    if name not in sys.modules:
        sys.meta_path.insert(0, _Finder(name))


class _Finder(MetaPathFinder):
    """Finds one package, once."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def execute_without_logs(module: ModuleType) -> None:
                with _logs_hidden():
                    execute(module)

            spec.loader.exec_module = execute_without_logs  # type: ignore[method-assign]
        return spec


@contextlib.contextmanager
def _logs_hidden() -> Iterator[None]:
    sys.stderr.flush()
    shown = os.dup(2)
    descriptor, path = tempfile.mkstemp(prefix="firth-", suffix=".log")
    os.remove(path)
    with os.fdopen(descriptor, "rb") as held:
        os.dup2(descriptor, 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(shown, 2)
            os.close(shown)
            held.seek(0)
            os.write(2, b"".join(line for line in held if not _LOG.match(line)))
