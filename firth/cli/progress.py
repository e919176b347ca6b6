"""Draws a run's events: live on a terminal, as plain lines anywhere else."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from firth.reports.quantities import bytes_text, seconds_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Event = dict[str, Any]
# Without a terminal, a line on the training is printed at least this often.
PLAIN_INTERVAL_SECONDS = 30.0
# And one on the start of a component that takes as long.
LONG_SECONDS = 5.0
STOPPING = "[yellow]stopping[/]: the steps so far are saved first; Ctrl-C again ends at once"
_MARKS = {"finished": "[green]done[/]  ", "cached": "[dim]cached[/]", "failed": "[red]failed[/]"}


@contextlib.contextmanager
def drawing(console: "Console", live: bool) -> Iterator[Callable[[Event], None]]:
    """Yields the function that draws an event."""
    if not live:
        yield PlainLines(console).draw
        return
    with live_progress(console) as progress:
        yield LiveLines(progress).draw


def component_line(event: Event) -> str:
    """Returns the line on a component that has ended, with rich's markup.

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

    The time is that of the whole run, by earlier ones, or else that of the steps.

    Example:

    >>> event = {"loss": 6.1234, "tokens_per_second": 5210.4, "eta_seconds": 130.0}
    >>> training_text({**event, "run_left": 190.0})
    'loss 6.123, 5,210 tokens/s, 3 min 10 s of the run left'
    >>> training_text({**event, "run_left": None})
    'loss 6.123, 5,210 tokens/s, 2 min 10 s of steps left'
    """
    text = f"loss {event['loss']:.3f}"
    if event["eta_seconds"] is None:
        return text
    text += f", {event['tokens_per_second']:,.0f} tokens/s"
    if (left := event.get("run_left")) is not None:
        return f"{text}, {left_text(left)} of the run left"
    return f"{text}, {left_text(event['eta_seconds'])} of steps left" if event["eta_seconds"] else text


def left_text(seconds: float) -> str:
    """Returns the time left of something that still runs, at least one second.

    Example:

    >>> left_text(0.0), left_text(75.0)
    ('1.0 s', '1 min 15 s')
    """
    return seconds_text(max(seconds, 1.0))


def running_text(event: Event) -> str:
    """Returns the running component, and the time left of the run if earlier runs recorded times.

    Example:

    >>> running_text({"name": "Evaluator", "number": 11, "of": 15, "left": 60.0, "unknown": 0})
    'Evaluator, 11 of 15, about 1 min 0 s of the run left'
    >>> running_text({"name": "Evaluator", "number": 11, "of": 15, "left": None, "unknown": 2})
    'Evaluator, 11 of 15'
    """
    if "number" not in event:
        return str(event["name"])
    where = f"{event['name']}, {event['number']} of {event['of']}"
    return where if event["left"] is None else f"{where}, about {left_text(event['left'])} of the run left"


def estimate_text(event: Event) -> str:
    """Returns the time that the training will take, and the whole rest of the run.

    Example:

    >>> event = {"steps": 20_000, "seconds": 11400.0, "tokens_per_second": 12_000.0}
    >>> estimate_text({**event, "run_left": 11_520.0})
    'about 3 h 12 min left of the run: 3 h 10 min for 20,000 steps, 12,000 tokens/s, and 2 min 0 s after them'
    >>> estimate_text({**event, "run_left": None, "unknown": 3})
    'about 3 h 10 min for 20,000 steps, 12,000 tokens/s; the time of 3 components after them is not known yet'
    """
    long = left_text(event["seconds"])
    steps = f"{long} for {event['steps']:,} steps, {event['tokens_per_second']:,.0f} tokens/s"
    if (left := event.get("run_left")) is not None:
        rest = left_text(left - event["seconds"])
        return f"about {left_text(left)} left of the run: {steps}, and {rest} after them"
    if not (unknown := event.get("unknown")):
        return f"about {steps}"
    components = "1 component" if unknown == 1 else f"{unknown} components"
    return f"about {steps}; the time of {components} after them is not known yet"


def changes_text(event: Event) -> str:
    """Returns the lines on differences from the folder's last run, with rich's markup.

    Example:

    >>> changes_text({"lines": ["training.steps: 7, in this folder's last run 600"]})
    "[yellow]changed[/] training.steps: 7, in this folder's last run 600"
    """
    from rich.markup import escape

    return "\n".join(f"[yellow]changed[/] {escape(line)}" for line in event["lines"])


def notice_text(event: Event) -> str:
    """Returns a notice of the training before its first step, with rich's markup.

    Example:

    >>> notice_text({"text": "the run resumes at step 600"})
    '[yellow]note[/]    the run resumes at step 600'
    """
    from rich.markup import escape

    return f"[yellow]note[/]    {escape(event['text'])}"


class _Lines:
    def __init__(self, console: "Console") -> None:
        self._console = console

    def draw(self, event: Event) -> None:
        """Draws one event."""
        if event["kind"] == "changes":
            self._console.print(changes_text(event))
        elif event["kind"] == "notice":
            self._console.print(notice_text(event))
        elif event["kind"] == "stopping":
            self._console.print(STOPPING)
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
    """Prints a line when a component ends, and a line on the training from time to time."""

    def __init__(self, console: "Console", clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console)
        self._clock = clock
        self._last_time = clock()
        self._last_tenth = 0

    def _draw_component(self, event: Event) -> None:
        # One that is soon done has its line then.
        if event["state"] == "running" and event.get("expected", LONG_SECONDS) >= LONG_SECONDS:
            self._console.print(f"[dim]runs[/]   {running_text(event)}")
        super()._draw_component(event)

    def _draw_training(self, event: Event) -> None:
        tenth = 10 * event["step"] // event["steps"]
        if tenth == self._last_tenth and self._clock() - self._last_time < PLAIN_INTERVAL_SECONDS:
            return
        self._last_tenth, self._last_time = tenth, self._clock()
        self._console.print(f"       step {event['step']:,} of {event['steps']:,}: {training_text(event)}")


def live_progress(console: "Console") -> "Progress":
    """Returns the display of the one component that is running."""
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
    """Draws the running component in the last line, and the ended components above it."""

    def __init__(self, progress: "Progress") -> None:
        super().__init__(progress.console)
        self._progress = progress
        self._task: Any = None

    def _draw_component(self, event: Event) -> None:
        if self._task is not None:
            self._progress.remove_task(self._task)
            self._task = None
        if event["state"] == "running":
            _, _, detail = running_text(event).partition(", ")
            self._task = self._progress.add_task(event["name"], total=None, detail=detail)
        super()._draw_component(event)

    def _draw_training(self, event: Event) -> None:
        if self._task is not None:
            detail = f"step {event['step']:,} of {event['steps']:,}, {training_text(event)}"
            self._progress.update(self._task, total=event["steps"], completed=event["step"], detail=detail)
