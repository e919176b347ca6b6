"""The training loop: steps, loss curve, held-out losses, progress and checkpoints."""

import dataclasses
import logging
import math
from collections.abc import Callable, Iterable

import tensorflow as tf

from firth.recipes.training.training import Training
from firth.training.checkpoints import Checkpoints, Progress
from firth.training.clock import Clock
from firth.training.distribution import gather_values
from firth.training.history import History
from firth.training.step import StepResult
from firth.training.termination import Termination, TrainingTerminated

_PROGRESS = logging.getLogger("firth.progress")
_NAMED_IDS = 32
# Steps after the one that compiles, whose speed says how long the rest will take.
_TIMED_STEPS = 5


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


@dataclasses.dataclass(frozen=True)
class Loop:
    """What all stages of a run share.

    Attributes:
        train_step: Features of a batch -> `StepResult`.
        training: The recipe's training.
        learning_rate: Step, counted from 0 -> rate.
        checkpoints: Saved every `checkpoint_every_steps`.
        history: Gets a line every `log_every_steps`, for each held-out loss, and for the first and last step.
        strategy: Of the step.
        termination: Asked for after each step.
        held_out: Returns the held-out losses and samples of the weights as they are.
    """

    train_step: Callable
    training: Training
    learning_rate: Callable
    checkpoints: Checkpoints
    history: History
    strategy: tf.distribute.Strategy
    termination: Termination
    held_out: Callable[[], dict]

    def run(self, batches: Iterable, progress: Progress, left: Callable[[int], float]) -> Progress:
        """Runs the steps of some batches, and saves the last one of the run.

        Args:
            batches: (example ids, features) of the steps after `progress`, divided among the replicas.
            progress: Where to go on.
            left: Steps made -> steps that the rest of the run takes as long as.

        Raises:
            NonFiniteLossError: before anything of the step is logged or saved.
            TrainingTerminated: if it was asked for, with the steps made so far saved.
        """
        clock, first = Clock(progress), progress.step + 1
        for example_ids, features in batches:
            result = tf.nest.map_structure(float, self.train_step(features))
            step, tokens = progress.step + 1, progress.tokens + int(result.tokens)
            self._check(step, result, example_ids)
            progress = Progress(step, tokens, clock.seconds)
            timed = clock.speed(step, tokens)
            if timed and step == first + _TIMED_STEPS:
                _announce(left(step), timed, self.training.steps - step)
            evaluates = self._is_due(step, self.training.eval_every_steps)
            if evaluates or step in (1, self.training.steps) or step % self.training.log_every_steps == 0:
                self._log(progress, result, timed, left(step), self.held_out() if evaluates else {})
            self._save(progress)
            # The first step compiles, and a held-out loss takes its time too.
            if step == first or evaluates or step % max(self.training.log_every_steps, _TIMED_STEPS + 1) == 0:
                clock.mark(step, tokens)
        return progress

    def _is_due(self, step: int, every: int | None) -> bool:
        return every is not None and step % every == 0

    def _check(self, step, result, example_ids):
        if not (math.isfinite(result.loss) and math.isfinite(result.gradient_norm)):
            ids = gather_values(self.strategy, example_ids).numpy().tolist()
            raise NonFiniteLossError(step, result, ids)

    def _save(self, progress):
        last, stops = progress.step == self.training.steps, self.termination.is_requested
        if last or stops or self._is_due(progress.step, self.training.checkpoint_every_steps):
            saved = self.checkpoints.save(progress)
            if stops:
                raise TrainingTerminated(progress.step, self.training.steps, saved)

    def _log(self, progress, result, timed, left, held_out):
        tokens_per_second, seconds_per_step = timed or (None, None)
        line = {
            "step": progress.step,
            "loss": result.loss,
            **{f"{name}_loss": value for name, value in result.losses.items()},
            "gradient_norm": result.gradient_norm,
            "learning_rate": float(self.learning_rate(progress.step - 1)),
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


def _announce(left, timed, steps):
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
