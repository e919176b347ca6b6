"""The training loop: steps, loss curve, held-out losses, progress and checkpoints."""

import dataclasses
import logging
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tensorflow as tf

from firth.recipes.training.training import Training
from firth.training.checkpoints import Checkpoints, Progress
from firth.training.clock import Clock
from firth.training.distribution import gather_values
from firth.training.history import History
from firth.training.step import StepResult
from firth.training.termination import TrainingTerminated

_PROGRESS = logging.getLogger("firth.progress")
_NAMED_IDS = 32
# Steps after the one that compiles, whose speed says how long the rest will take.
_TIMED_STEPS = 5


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
            f"step {step}: the loss is {float(result.loss)} and the gradient's norm "
            f"{float(result.gradient_norm)}; example ids of the batch: {shown}. The last checkpoint is kept."
        )


@dataclasses.dataclass(frozen=True)
class Loop:
    """State that all stages of a run share.

    Attributes:
        train_step: Function from the features of a batch to a `StepResult`.
        training: Training of the recipe.
        learning_rate: Function that returns the learning rate of the optimizer's next update.
        checkpoints: Checkpoints, saved every `checkpoint_every_steps`.
        history: History, which gets a line every `log_every_steps`, for each held-out loss, and for the first
            and last step.
        strategy: Distribution strategy of the step.
        termination: Set by a request to end; looked at after each step.
        held_out: Function that returns the held-out losses and samples of the current weights.
    """

    train_step: Callable[..., Any]
    training: Training
    learning_rate: Callable[[], float]
    checkpoints: Checkpoints
    history: History
    strategy: tf.distribute.Strategy
    termination: threading.Event
    held_out: Callable[[], dict[str, Any]]

    def run(self, batches: Iterable[Any], progress: Progress, left: Callable[[int], float]) -> Progress:
        """Runs the steps of some batches, and saves the last one of the run.

        Args:
            batches: Pairs of example ids and features of the steps after `progress`, divided among the
                replicas.
            progress: Progress to go on from.
            left: Function from steps made to the number of steps that the rest of the run takes as long as.

        Raises:
            NonFiniteLossError: before anything of the step is logged or saved.
            TrainingTerminated: if it was asked for, with the steps made so far saved.
        """
        clock, first = Clock(progress), progress.step + 1
        for example_ids, features in batches:
            rate = self.learning_rate()
            result = tf.nest.map_structure(float, self.train_step(features))
            step, tokens = progress.step + 1, progress.tokens + int(result.tokens)
            self._check(step, result, example_ids)
            progress = Progress(step, tokens, clock.seconds)
            timed = clock.speed(step, tokens)
            if timed and step == first + _TIMED_STEPS:
                _announce(left(step), timed, self.training.steps - step)
            evaluates = self._is_due(step, self.training.eval_every_steps)
            if evaluates or step in (1, self.training.steps) or step % self.training.log_every_steps == 0:
                self._log(progress, result, rate, timed, left(step), self.held_out() if evaluates else {})
            self._save(progress)
            # The first step compiles, and a held-out loss takes its time too.
            if step == first or evaluates or step % max(self.training.log_every_steps, _TIMED_STEPS + 1) == 0:
                clock.mark(step, tokens)
        return progress

    def _is_due(self, step: int, every: int | None) -> bool:
        return every is not None and step % every == 0

    def _check(self, step: int, result: StepResult, example_ids: Any) -> None:
        if not (math.isfinite(result.loss) and math.isfinite(result.gradient_norm)):
            ids = gather_values(self.strategy, example_ids).numpy().tolist()
            raise NonFiniteLossError(step, result, ids)

    def _save(self, progress: Progress) -> None:
        last, stops = progress.step == self.training.steps, self.termination.is_set()
        if last or stops or self._is_due(progress.step, self.training.checkpoint_every_steps):
            # First, because a resumed run does not write the lines up to its checkpoint again.
            self.history.flush()
            saved = self.checkpoints.save(progress)
            if stops:
                raise TrainingTerminated(progress.step, self.training.steps, saved)

    def _log(
        self,
        progress: Progress,
        result: StepResult,
        rate: float,
        timed: tuple[float, float] | None,
        left: float,
        held_out: Mapping[str, Any],
    ) -> None:
        tokens_per_second, seconds_per_step = timed or (None, None)
        line = {
            "step": progress.step,
            "loss": result.loss,
            **{f"{name}_loss": value for name, value in result.losses.items()},
            "gradient_norm": result.gradient_norm,
            "learning_rate": rate,
            "tokens_per_second": tokens_per_second,
            "tokens": progress.tokens,
            "seconds": progress.seconds,
            **held_out,
        }
        self.history.append(line)
        event = {
            "kind": "training",
            "step": progress.step,
            "steps": self.training.steps,
            "loss": result.loss,
            "tokens_per_second": tokens_per_second,
            "eta_seconds": None if seconds_per_step is None else seconds_per_step * left,
        }
        message = "step %d of %d: loss %.4f"
        _PROGRESS.info(message, progress.step, self.training.steps, result.loss, extra={"firth": event})


def _announce(left: float, timed: tuple[float, float], steps: int) -> None:
    """Says how long the rest of the run will take."""
    tokens_per_second, seconds_per_step = timed
    event = {
        "kind": "estimate",
        "steps": steps,
        "seconds": seconds_per_step * left,
        "tokens_per_second": tokens_per_second,
    }
    message = "about %.0f s for %d steps, %.0f tokens/s"
    _PROGRESS.info(message, event["seconds"], steps, tokens_per_second, extra={"firth": event})
