"""What reads the gradients of a run's steps."""

from collections.abc import Mapping
from typing import Any

from firth.layers.elements.types import Tensor


class GradientObserver:
    """A part of a method that acts after each update of a run, and reads the gradients.

    Its state is in weights that are not trained, of layers that the model holds, so that checkpoints have it.
    They, and trained weights that it assigns to, are made with `aggregation="only_first_replica"`: each
    replica computes the same.
    """

    def plan(self, steps: int) -> None:
        """Prepares for a run.

        Raises:
            ValueError: if the run is too short for what it does.
        """
        raise NotImplementedError

    def observe(self, gradients: Mapping[str, Tensor], updates: Any) -> None:
        """Acts after an update."""
        raise NotImplementedError
