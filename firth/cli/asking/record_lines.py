"""Draws how many records are answered: live on a terminal, as plain lines anywhere else."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from firth.cli.progress import PLAIN_INTERVAL_SECONDS, live_progress

if TYPE_CHECKING:
    from rich.console import Console


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
