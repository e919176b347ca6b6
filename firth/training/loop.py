"""The training loop: steps, loss curve, progress and checkpoints."""

import logging
import math
import time
from collections.abc import Callable, Iterable

import tensorflow as tf

from firth.recipes.training import Training
from firth.training.checkpoints import Checkpoints, Progress
from firth.training.distribution import gather_values
from firth.training.history import History
from firth.training.step import StepResult
from firth.training.termination import Termination, TrainingTerminated

_PROGRESS = logging.getLogger("firth.progress")
_NAMED_IDS = 32


class NonFiniteLossError(ArithmeticError):
    """The loss or the gradient of a step is infinite or not a number.

    Attributes:
        step: Counted from 1.
        example_ids: Of the step's batch.
    """

    def __init__(self, step: int, result: StepResult, example_ids: list[int]):
        self.step, self.example_ids = step, example_ids
        more = len(example_ids) - _NAMED_IDS
        shown = ", ".join(map(str, example_ids[:_NAMED_IDS])) + (f" and {more} more" if more > 0 else "")
        super().__init__(
            f"step {step}: the loss is {float(result.loss)} and the gradient's norm "
            f"{float(result.gradient_norm)}; example ids of the batch: {shown}. The last checkpoint is kept."
        )


class _Clock:
    """Wall time and tokens of this start, the compiling first step left out of the speed."""

    def __init__(self, progress: Progress):
        self._start, self._before = time.monotonic(), progress.seconds
        self._mark = (self._start, progress.step, progress.tokens)

    @property
    def seconds(self) -> float:
        return self._before + time.monotonic() - self._start

    def mark(self, step, tokens):
        """Starts a new stretch, over which the speed is measured next."""
        self._mark = (time.monotonic(), step, tokens)

    def speed(self, step, tokens) -> tuple[float, float]:
        """Returns tokens a second and seconds a step since the last mark."""
        then, step_then, tokens_then = self._mark
        seconds = max(time.monotonic() - then, 1e-9)
        return (tokens - tokens_then) / seconds, seconds / max(step - step_then, 1)


def run_steps(
    train_step: Callable,
    batches: Iterable,
    training: Training,
    learning_rate: Callable,
    checkpoints: Checkpoints,
    history: History,
    progress: Progress,
    strategy: tf.distribute.Strategy,
    termination: Termination,
) -> Progress:
    """Runs all steps that are left, and saves the last one.

    Args:
        train_step: Features of a batch -> `StepResult`.
        batches: (example ids, features) of the steps behind `progress`, divided among the replicas.
        training: The recipe's training.
        learning_rate: Step, counted from 0 -> rate.
        checkpoints: Saved every `checkpoint_every_steps`.
        history: Gets a line every `log_every_steps`, and for the first and the last step.
        progress: Where to go on.
        strategy: Of the step.
        termination: Asked for after each step.

    Raises:
        NonFiniteLossError: before anything of the step is logged or saved.
        TrainingTerminated: if it was asked for, with the steps made so far saved.
    """
    clock, first = _Clock(progress), progress.step + 1
    for example_ids, features in batches:
        result = tf.nest.map_structure(float, train_step(features))
        step, tokens = progress.step + 1, progress.tokens + int(result.tokens)
        if not (math.isfinite(result.loss) and math.isfinite(result.gradient_norm)):
            ids = gather_values(strategy, example_ids).numpy().tolist()
            raise NonFiniteLossError(step, result, ids)
        progress = Progress(step, tokens, clock.seconds)
        last = step == training.steps
        if last or step == 1 or step % training.log_every_steps == 0:
            _log(history, progress, result, float(learning_rate(step - 1)), clock, training.steps)
        stops = termination.is_requested and not last
        if last or stops or step % training.checkpoint_every_steps == 0:
            saved = checkpoints.save(progress)
        if stops:
            raise TrainingTerminated(step, training.steps, saved)
        if step == first or step % training.log_every_steps == 0:
            clock.mark(step, tokens)
    return progress


def _log(history, progress, result, learning_rate, clock, steps):
    tokens_per_second, seconds_per_step = clock.speed(progress.step, progress.tokens)
    line = {
        "step": progress.step,
        "loss": result.loss,
        **{f"{name}_loss": value for name, value in result.losses.items()},
        "gradient_norm": result.gradient_norm,
        "learning_rate": learning_rate,
        "tokens_per_second": tokens_per_second,
        "tokens": progress.tokens,
        "seconds": progress.seconds,
    }
    history.append(line)
    event = {
        "kind": "training",
        "step": progress.step,
        "steps": steps,
        "loss": result.loss,
        "tokens_per_second": tokens_per_second,
        "eta_seconds": seconds_per_step * (steps - progress.step),
    }
    _PROGRESS.info("step %d of %d: loss %.4f", progress.step, steps, result.loss, extra={"firth": event})
