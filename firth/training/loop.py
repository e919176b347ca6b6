"""The training loop: steps, loss curve, held-out losses, progress and checkpoints."""

import contextlib
import dataclasses
import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from firth.recipes.training.training import Training
from firth.training.checkpoints import Checkpoints, Progress
from firth.training.history import HELD_OUT_LOSS, History
from firth.training.step import Block, StepResult
from firth.training.termination import StopRequested, Termination, TrainingTerminated
from firth.training.workers import Workers

_PROGRESS = logging.getLogger("firth.progress")
_NAMED_IDS = 32


class NonFiniteLossError(ArithmeticError):
    """The loss or the gradient of a step is infinite or not a number.

    Args:
        step: Step whose loss is not finite, counted from 1; kept as an attribute.
        result: Loss and gradient norm of the step.
        example_ids: Example ids of the step's batch; kept as an attribute.
    """

    def __init__(self, step: int, result: StepResult, example_ids: list[int]) -> None:
        self.step, self.example_ids = step, example_ids
        more = len(example_ids) - _NAMED_IDS
        shown = ", ".join(map(str, example_ids[:_NAMED_IDS])) + (f" and {more} more" if more > 0 else "")
        super().__init__(
            f"step {step}: the loss is {result.loss} and the gradient's norm "
            f"{result.gradient_norm}; example ids of the batch: {shown}. The last checkpoint is kept."
        )


@dataclasses.dataclass(frozen=True)
class Loop:
    """State that all stages of a run share.

    Attributes:
        block: Function from an iterator over batches and a number of steps to a `Block`.
        training: Training of the recipe.
        checkpoints: Checkpoints, saved every `checkpoint_every_steps`.
        history: History, which gets a line every `log_every_steps`, for each held-out loss, and for the first
            and last step.
        termination: Set by a request to end; checked after each block. The first block, which compiles, and
            held-out losses do not wait for their end.
        held_out: Function that returns the held-out losses and samples of the current weights.
        workers: Processes of the training, which make the same blocks.
    """

    block: Callable[[Iterator[Any], int], Block]
    training: Training
    checkpoints: Checkpoints
    history: History
    termination: Termination
    held_out: Callable[[], dict[str, Any]]
    workers: Workers

    def run(
        self, batches: Iterable[Any], progress: Progress, end: int, left: Callable[[int], float]
    ) -> Progress:
        """Runs the steps of some batches in blocks, and saves the last one of the run.

        A block ends at the latest where a checkpoint or a held-out loss is due. A request to end during a
        held-out loss leaves it to the next start, which measures it with the same weights.

        Raises:
            NonFiniteLossError: before anything of the step is logged or saved.
            TrainingTerminated: after a request to end, with the steps made so far saved.
        """
        first = progress
        lines = _Lines(self, progress, left)
        pace, iterator = Pace(self.training.steps_per_execution), iter(batches)
        while progress.step < end:
            steps = pace.next(progress.step, [end, *self._borders(progress.step)])
            begun = time.monotonic()
            try:
                # Before the first step, the slowest as it compiles, no step can be lost.
                with self._ending_at_once(progress is first):
                    made = self.block(iterator, steps)
            except StopRequested:
                raise self._stopped(progress) from None
            ended = time.monotonic()
            # All processes decide by the same totals.
            seconds, stops = self.workers.total([ended - begun, float(self.termination.is_set())])
            pace.made(steps, seconds / self.workers.count)
            moments = np.linspace(begun, ended, steps + 1)[1:].tolist()
            for moment, result, example_ids in zip(moments, made.results, made.example_ids, strict=True):
                _check(progress.step + 1, result, example_ids)
                progress = lines.add(moment, result)
            if self._save(progress, stops > 0 or (self.workers.count == 1 and self.termination.is_set())):
                lines.clock.mark(time.monotonic(), progress.step, progress.tokens)
        return progress

    def complete(self, progress: Progress) -> None:
        """Measures the held-out loss of the step that a run resumes at, if a request to end came before.

        Raises:
            TrainingTerminated: if there is another request, with nothing changed.
        """
        line = self.history.last
        if line is None or line["step"] != progress.step or HELD_OUT_LOSS in line:
            return
        if is_evaluated(progress.step, self.training):
            try:
                with self._ending_at_once():
                    measured = self.held_out()
            except StopRequested:
                raise self._stopped(progress) from None
            if measured:
                self.history.complete(measured)

    def measure(self) -> dict[str, Any]:
        """Returns the held-out losses and samples; nothing if a request to end comes meanwhile."""
        try:
            with self._ending_at_once():
                return self.held_out()
        except StopRequested:
            return {}

    def _ending_at_once(self, does: bool = True) -> contextlib.AbstractContextManager[None]:
        # Several processes agree on when they end.
        return self.termination.at_once() if does and self.workers.count == 1 else contextlib.nullcontext()

    def _stopped(self, progress: Progress) -> TrainingTerminated:
        return self.termination.stopped(
            progress.step, self.training.steps, self.checkpoints.folder_of(progress)
        )

    def _borders(self, step: int) -> Iterator[int]:
        """Yields the next steps after which something needs the weights."""
        for every in (self.training.checkpoint_every_steps, self.training.eval_every_steps):
            if every is not None:
                yield step + every - step % every

    def _save(self, progress: Progress, stops: bool) -> bool:
        last = progress.step == self.training.steps
        if not (last or stops or is_due(progress.step, self.training.checkpoint_every_steps)):
            return False
        # First, because a resumed run does not write the lines up to its checkpoint again.
        self.history.flush()
        self.checkpoints.start(progress)
        if last or stops:
            self.checkpoints.wait()
        if stops:
            # All must have saved before the message, and a process that ends counts as lost.
            self.workers.wait()
            raise self._stopped(progress)
        return True


class _Lines:
    """The lines of the curve and the messages on progress, step by step."""

    def __init__(self, loop: Loop, progress: Progress, left: Callable[[int], float]) -> None:
        self.clock = Clock(progress)
        self._loop, self._progress, self._left = loop, progress, left
        self._first = progress.step + 1

    def add(self, moment: float, result: StepResult) -> Progress:
        """Returns the progress after one more step."""
        training, step = self._loop.training, self._progress.step + 1
        tokens = self._progress.tokens + int(result.tokens)
        self._progress = Progress(step, tokens, self.clock.seconds(moment), training.steps)
        timed = self.clock.speed(moment, step, tokens)
        if timed and step == self._first + TIMED_STEPS:
            _announce(self._left(step), timed, training.steps - step)
        evaluates = is_evaluated(step, training)
        if evaluates or step in (1, training.steps) or is_due(step, training.log_every_steps):
            self._log(result, timed, self._loop.measure() if evaluates else {})
        # The first step compiles, and a held-out loss takes its time too.
        if evaluates or step == self._first or is_due(step, max(training.log_every_steps, TIMED_STEPS + 1)):
            self.clock.mark(time.monotonic() if evaluates else moment, step, tokens)
        return self._progress

    def _log(
        self, result: StepResult, timed: tuple[float, float] | None, held_out: Mapping[str, Any]
    ) -> None:
        progress, steps = self._progress, self._loop.training.steps
        tokens_per_second, seconds_per_step = timed or (None, None)
        line = {
            "step": progress.step,
            "loss": result.loss,
            **{f"{name}_loss": value for name, value in result.losses.items()},
            "gradient_norm": result.gradient_norm,
            "learning_rate": result.learning_rate,
            "tokens_per_second": tokens_per_second,
            "tokens": progress.tokens,
            "seconds": progress.seconds,
            **held_out,
        }
        self._loop.history.append(line)
        left = self._left(progress.step)
        event = {
            "kind": "training",
            "step": progress.step,
            "steps": steps,
            "loss": result.loss,
            "tokens_per_second": tokens_per_second,
            "eta_seconds": None if seconds_per_step is None else seconds_per_step * left,
        }
        message = "step %d of %d: loss %.4f"
        _PROGRESS.info(message, progress.step, steps, result.loss, extra={"firth": event})


def is_due(step: int, every: int | None) -> bool:
    """Returns true if something that happens every `every` steps happens after this one."""
    return every is not None and step % every == 0


def is_evaluated(step: int, training: Training) -> bool:
    """Returns true if a held-out loss is measured after a step, which includes the last one.

    Example:

    >>> training = Training(steps=97, eval_every_steps=33)
    >>> [step for step in range(1, 98) if is_evaluated(step, training)]
    [33, 66, 97]
    >>> is_evaluated(97, Training(steps=97, eval_every_steps=None))
    False
    """
    every = training.eval_every_steps
    return every is not None and (step == training.steps or is_due(step, every))


def _check(step: int, result: StepResult, example_ids: npt.NDArray[np.int64]) -> None:
    if not (math.isfinite(result.loss) and math.isfinite(result.gradient_norm)):
        raise NonFiniteLossError(step, result, example_ids.tolist())


def _announce(left: float, timed: tuple[float, float], steps: int) -> None:
    """Logs the estimated time of the rest of the run."""
    tokens_per_second, seconds_per_step = timed
    event = {
        "kind": "estimate",
        "steps": steps,
        "seconds": seconds_per_step * left,
        "tokens_per_second": tokens_per_second,
    }
    message = "about %.0f s for %d steps, %.0f tokens/s"
    _PROGRESS.info(message, event["seconds"], steps, tokens_per_second, extra={"firth": event})


class Clock:
    """Wall time and tokens of this start. Before its first step has compiled, it knows no speed.

    Moments are times of `time.monotonic`.
    """

    def __init__(self, progress: Progress) -> None:
        self._start, self._before = time.monotonic(), progress.seconds
        self._mark: tuple[float, int, int] | None = None

    def seconds(self, moment: float) -> float:
        """Returns the seconds of training up to a moment, over all starts."""
        return self._before + moment - self._start

    def mark(self, moment: float, step: int, tokens: int) -> None:
        """Starts a new stretch, over which the speed is measured next."""
        self._mark = (moment, step, tokens)

    def speed(self, moment: float, step: int, tokens: int) -> tuple[float, float] | None:
        """Returns tokens a second and seconds a step since the last mark; None if no step was made since."""
        if self._mark is None or step == self._mark[1]:
            return None
        then, step_then, tokens_then = self._mark
        seconds = max(moment - then, 1e-9)
        return (tokens - tokens_then) / seconds, seconds / (step - step_then)


# Seconds of a block: long enough that its start costs nothing, short enough
# that a request to end is soon handled.
_SECONDS = 1.0
# Steps after the one that compiles, whose speed gives the estimate for the rest.
TIMED_STEPS = 5


class Pace:
    """The number of steps of the next block: a fixed one, or as many as take about a second.

    The first block is one step, which compiles.

    Example:

    >>> pace = Pace(None)
    >>> pace.next(step=0, borders=[1000])
    1
    >>> pace.made(steps=1, seconds=20.0)
    >>> pace.next(step=1, borders=[1000])
    5
    >>> pace.made(steps=5, seconds=0.5)
    >>> pace.next(step=6, borders=[1000]), pace.next(step=6, borders=[1000, 8])
    (10, 2)
    """

    def __init__(self, steps: int | None) -> None:
        self._fixed = steps
        self._next, self._has_compiled = 1, False

    def next(self, step: int, borders: Iterable[int]) -> int:
        """Returns the number of steps of the next block, which ends at the next border at the latest."""
        return min(self._next, min(borders) - step)

    def made(self, steps: int, seconds: float) -> None:
        """Records the time of a block."""
        if self._fixed:
            self._next = self._fixed
        elif not self._has_compiled:
            self._next, self._has_compiled = TIMED_STEPS, True
        else:
            self._next = max(1, round(_SECONDS * steps / max(seconds, 1e-6)))
