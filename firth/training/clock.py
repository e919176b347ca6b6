"""Wall time and speed of a training."""

import time

from firth.training.checkpoints import Progress


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
