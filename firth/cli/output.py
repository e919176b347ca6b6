"""Output of the command: exit codes, errors and notes."""

import enum
import os
import sys
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console


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
