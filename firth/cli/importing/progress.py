"""Draws how far an import has come: live on a terminal, as plain lines anywhere else."""

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from firth.cli.progress import PLAIN_INTERVAL_SECONDS, live_progress

if TYPE_CHECKING:
    from rich.console import Console

_PROGRESS = logging.getLogger("firth.progress")
Draw = Callable[[str, int, int], None]


@contextlib.contextmanager
def drawing_import(console: "Console", clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Draws what is logged of the parts of an import for as long as the block runs."""
    with contextlib.ExitStack() as stack:
        if console.is_terminal:
            draw = _live(stack.enter_context(live_progress(console)))
        else:
            draw = _plain(console, clock)
        level = _PROGRESS.level
        handler = _Parts(draw)
        _PROGRESS.setLevel(logging.INFO)
        _PROGRESS.addHandler(handler)
        try:
            yield
        finally:
            _PROGRESS.removeHandler(handler)
            _PROGRESS.setLevel(level)


class _Parts(logging.Handler):
    def __init__(self, draw: Draw) -> None:
        super().__init__(logging.INFO)
        self._draw = draw

    def emit(self, record: logging.LogRecord) -> None:
        event: dict[str, Any] = getattr(record, "firth", {})
        if event.get("kind") == "import":
            self._draw(event["part"], event["done"], event["of"])


def _live(progress: Any) -> Draw:
    task = progress.add_task("import", total=None, detail="")

    def draw(part: str, done: int, of: int) -> None:
        detail = f"{part}, {done:,} of {of:,}" if of else part
        progress.update(task, total=of or None, completed=done, detail=detail)

    return draw


def _plain(console: "Console", clock: Callable[[], float]) -> Draw:
    shown, last = "", clock()

    def draw(part: str, done: int, of: int) -> None:
        nonlocal shown, last
        if part == shown and clock() - last < PLAIN_INTERVAL_SECONDS:
            return
        console.print(f"{part}: {done:,} of {of:,}" if of and part == shown else part, markup=False)
        shown, last = part, clock()

    return draw
