"""`firth predict --input`: a signature asked about the records of a file."""

import contextlib
import os
import pathlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from firth.cli.output import ExitCode, fail, note, run_quietly, terminal
from firth.cli.progress import PLAIN_INTERVAL_SECONDS, live_progress

if TYPE_CHECKING:
    from rich.console import Console

    from firth.serving.batch.prediction import Predicted

Quoted = Annotated[
    bool | None,
    typer.Option(
        "--quoted/--no-quoted",
        help="Whether cells of a tsv of --input may be in quotation marks, or these are a part of the text. "
        "Without it as in the training data; if these leave it open, a tsv with such a cell is refused.",
        show_default=False,
    ),
]


def check_quoted(quoted: bool | None, input: str | None) -> None:
    """Ends the command if `--quoted` is given for a file that is not a tsv."""
    # Recipe types take time to import, and most requests have no such option.
    if quoted is None:
        return
    from firth.recipes.tasks.data import quoted_problem

    if problem := quoted_problem(quoted, [] if input is None else [input]):
        fail(f"--{problem}", ExitCode.USAGE)


def predict_records(
    directory: pathlib.Path,
    name: str,
    source: str,
    target: str,
    columns: Sequence[str],
    verbose: bool,
    quoted: bool | None = None,
    data_source: str = "",
) -> None:
    """Writes the answers to a file of texts, and prints the numbers of answered and rejected records."""
    named = dict(each.split("=", 1) for each in columns if "=" in each)
    if len(named) < len(columns):
        fail("--column is given as INPUT=COLUMN, once for each input", ExitCode.USAGE)

    console = terminal(err=True)

    def work() -> "Predicted":
        from firth.serving import Client
        from firth.serving.batch.prediction import predict_file

        client = Client(os.fspath(directory))
        with drawing_records(console) as draw:
            return predict_file(client, name, source, target, named, draw, quoted, data_source)

    expected = {OSError: ExitCode.FAILED, ValueError: ExitCode.USAGE}
    found = run_quietly(work, "predict", expected, verbose)
    print_counts(found, target)


def print_counts(found: "Predicted", target: str) -> None:
    """Prints how many records were answered, and, on standard error, which of them were rejected."""
    for each in found.first_unread:
        note(f"{each.file}:{each.line}: {each.reason}: {each.detail}")
    unread = f", {found.unread.total():,} could not be read" if found.unread else ""
    counts = ", ".join(f"{reason} {count:,}" for reason, count in sorted(found.unread.items()))
    cut = f", {found.truncated:,} of them truncated" if found.truncated else ""
    typer.echo(
        f"{target}: {found.answered:,} records answered{cut}{unread}{f' ({counts})' if counts else ''}"
    )


@contextlib.contextmanager
def drawing_records(
    console: "Console", name: str = "predict", clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[int], None]]:
    """Yields the function that draws a number of answered records, which is called with 0 first."""
    begun = last = 0.0

    def plain(answered: int) -> None:
        nonlocal begun, last
        if not answered:
            begun = last = clock()
        elif clock() - last >= PLAIN_INTERVAL_SECONDS:
            last = clock()
            console.print(records_text(answered, last - begun))

    if not console.is_terminal:
        yield plain
        return
    with live_progress(console) as progress:
        task = progress.add_task(name, total=None, detail="")

        def live(answered: int) -> None:
            nonlocal begun
            begun = clock() if not answered else begun
            detail = records_text(answered, clock() - begun) if answered else ""
            progress.update(task, detail=detail)

        yield live


def records_text(answered: int, seconds: float) -> str:
    """Returns a number of answered records and their number a second.

    Example:

    >>> records_text(1280, 10.0)
    '1,280 records answered, 128.0 records/s'
    """
    return f"{answered:,} records answered, {answered / max(seconds, 1e-9):,.1f} records/s"
