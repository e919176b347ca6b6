"""Draws a run's events: live on a terminal, as plain lines anywhere else."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from firth.analysis.quantities import bytes_text, seconds_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Event = dict[str, Any]
# Without a terminal, a line on the training is printed at least this often.
PLAIN_INTERVAL_SECONDS = 30.0
_MARKS = {"finished": "[green]done[/]  ", "cached": "[dim]cached[/]", "failed": "[red]failed[/]"}


@contextlib.contextmanager
def drawing(console: "Console", live: bool) -> Iterator[Callable[[Event], None]]:
    """Yields the function that draws an event.

    Args:
        console: Console to draw on.
        live: True to redraw in place, with a progress bar; false to print a line when there is news.
    """
    if not live:
        yield PlainLines(console).draw
        return
    with live_progress(console) as progress:
        yield LiveLines(progress).draw


def component_line(event: Event) -> str:
    """Returns the line on a component that has ended, with rich's markup.

    Args:
        event: Event of the component's end.

    Example:

    >>> component_line({"name": "Curator", "state": "finished", "seconds": 3.0, "peak_bytes": 2e9})
    '[green]done[/]   Curator             3.0 s    2.0 GB'
    """
    line = f"{_MARKS[event['state']]} {event['name']:<17}"
    if event["state"] == "cached":
        return line.rstrip()
    return f"{line} {seconds_text(event['seconds']):>12} {bytes_text(event['peak_bytes']):>9}"


def training_text(event: Event) -> str:
    """Returns the loss, and speed and time left once they are known.

    Args:
        event: Event of the training loop.

    Example:

    >>> training_text({"loss": 6.1234, "tokens_per_second": 5210.4, "eta_seconds": 130.0})
    'loss 6.123, 5,210 tokens/s, 2 min 10 s left'
    """
    loss = f"loss {event['loss']:.3f}"
    if event["eta_seconds"] is None:
        return loss
    return f"{loss}, {event['tokens_per_second']:,.0f} tokens/s, {seconds_text(event['eta_seconds'])} left"


def estimate_text(event: Event) -> str:
    """Returns the time that the training will take.

    Args:
        event: Event with the estimate.

    Example:

    >>> estimate_text({"steps": 20_000, "seconds": 11400.0, "tokens_per_second": 12_000.0})
    'about 3 h 10 min for 20,000 steps, 12,000 tokens/s'
    """
    long = seconds_text(event["seconds"])
    return f"about {long} for {event['steps']:,} steps, {event['tokens_per_second']:,.0f} tokens/s"


def changes_text(event: Event) -> str:
    """Returns the lines on differences from the folder's last run, with rich's markup.

    Args:
        event: Event with the changed keys.

    Example:

    >>> changes_text({"lines": ["training.steps: 7, in this folder's last run 600"]})
    "[yellow]changed[/] training.steps: 7, in this folder's last run 600"
    """
    from rich.markup import escape

    return "\n".join(f"[yellow]changed[/] {escape(line)}" for line in event["lines"])


def notice_text(event: Event) -> str:
    """Returns what the training says before its first step, with rich's markup.

    Args:
        event: Event with the text.

    Example:

    >>> notice_text({"text": "the run goes on from step 600"})
    '[yellow]note[/]    the run goes on from step 600'
    """
    from rich.markup import escape

    return f"[yellow]note[/]    {escape(event['text'])}"


class _Lines:
    def __init__(self, console: "Console") -> None:
        self._console = console

    def draw(self, event: Event) -> None:
        """Draws one event.

        Args:
            event: Event of a run.
        """
        if event["kind"] == "changes":
            self._console.print(changes_text(event))
        elif event["kind"] == "notice":
            self._console.print(notice_text(event))
        elif event["kind"] == "estimate":
            self._console.print(f"       {estimate_text(event)}")
        elif event["kind"] == "training":
            self._draw_training(event)
        else:
            self._draw_component(event)

    def _draw_training(self, event: Event) -> None:
        raise NotImplementedError

    def _draw_component(self, event: Event) -> None:
        if event["state"] != "running":
            self._console.print(component_line(event))


class PlainLines(_Lines):
    """Prints a line when a component ends, and a line on the training from time to time.

    Args:
        console: Console to print on.
        clock: Function that returns seconds.
    """

    def __init__(self, console: "Console", clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console)
        self._clock = clock
        self._last_time = clock()
        self._last_tenth = 0

    def _draw_training(self, event: Event) -> None:
        tenth = 10 * event["step"] // event["steps"]
        if tenth == self._last_tenth and self._clock() - self._last_time < PLAIN_INTERVAL_SECONDS:
            return
        self._last_tenth, self._last_time = tenth, self._clock()
        self._console.print(f"       step {event['step']:,} of {event['steps']:,}: {training_text(event)}")


def live_progress(console: "Console") -> "Progress":
    """Returns the display of the one component that is running.

    Args:
        console: Console to draw on.
    """
    from rich import progress

    return progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description:<17}"),
        progress.BarColumn(bar_width=24),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.fields[detail]}"),
        console=console,
        transient=True,
        # Standard output and standard error go to the run's log during the run.
        redirect_stdout=False,
        redirect_stderr=False,
    )


class LiveLines(_Lines):
    """Draws the running component in the last line, and the ended components above it.

    Args:
        progress: Display of the running component.
    """

    def __init__(self, progress: "Progress") -> None:
        super().__init__(progress.console)
        self._progress = progress
        self._task: Any = None

    def _draw_component(self, event: Event) -> None:
        if self._task is not None:
            self._progress.remove_task(self._task)
            self._task = None
        if event["state"] == "running":
            self._task = self._progress.add_task(event["name"], total=None, detail="")
        super()._draw_component(event)

    def _draw_training(self, event: Event) -> None:
        if self._task is not None:
            detail = f"step {event['step']:,} of {event['steps']:,}, {training_text(event)}"
            self._progress.update(self._task, total=event["steps"], completed=event["step"], detail=detail)
