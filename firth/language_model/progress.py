"""A progress bar for a training in this process."""

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

_LOGGER = "firth.progress"


@contextlib.contextmanager
def progress_bar(show: bool = True) -> Iterator[None]:
    """Shows the steps of a training with loss and speed while the block runs.

    Args:
        show: False to show warnings alone.
    """
    logger = logging.getLogger(_LOGGER)
    level, propagates = logger.level, logger.propagate
    if not show:
        # A pipeline that ran in this process has switched the messages on.
        logger.setLevel(logging.WARNING)
        try:
            yield
        finally:
            logger.setLevel(level)
        return
    from rich import progress

    columns = (
        progress.TextColumn("training"),
        progress.BarColumn(bar_width=24),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.description}"),
    )
    with progress.Progress(*columns) as bar:
        handler = _Bar(bar)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagates


class _Bar(logging.Handler):
    """Draws events of the training; see `firth.training.loop`."""

    def __init__(self, bar: Any) -> None:
        super().__init__()
        self._bar = bar
        self._task: Any = None

    def emit(self, record: logging.LogRecord) -> None:
        """Draws one event."""
        event = getattr(record, "firth", {})
        if event.get("kind") == "notice":
            self._bar.console.print(event["text"])
        if event.get("kind") != "training":
            return
        text = f"loss {event['loss']:.3f}"
        if event.get("tokens_per_second"):
            text += f", {event['tokens_per_second']:,.0f} tokens/s"
        if self._task is None:
            self._task = self._bar.add_task(text, total=event["steps"])
        self._bar.update(self._task, completed=event["step"], description=text)
