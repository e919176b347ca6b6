"""The base of all methods that adapt a model."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from firth.recipes.base.recipe_type import Config


class Method(Config):
    """What of a model is trained when it is adapted, and what is added to it.

    `firth.tuning.METHODS` has the function of each kind that prepares a built model.

    Attributes:
        adds: Whether it adds something to the model, which is also saved alone.
    """

    adds: ClassVar[bool] = False

    if TYPE_CHECKING:
        kind: str

    def conflicts(self, model: Any) -> Iterator[str]:
        """Yields a line for each value that does not fit a model; without any, nothing.

        Args:
            model: The recipe's `model`.
        """
        del model
        yield from ()
