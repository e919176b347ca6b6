"""The base of all methods that adapt a model."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from firth.recipes.base.recipe_type import Config


class Method(Config):
    """What of a model is trained when it is adapted, and what is added to it.

    `firth.tuning.METHODS` has the function of each kind that prepares a built model.

    Attributes:
        adds: Whether it adds something to the model, which is also saved alone.
        merges: Whether what it adds becomes a part of the weights that it is added to. If not, it stays a
            part of the model that is saved and served, and `firth.models.ADDITIONS` has the function that
            makes it.
    """

    adds: ClassVar[bool] = False
    merges: ClassVar[bool] = False

    @property
    def extends_model(self) -> bool:
        """Whether the recipe's model is its base and, for as long as it lives, what the method adds."""
        return self.adds and not self.merges

    if TYPE_CHECKING:
        kind: str

    def conflicts(self, model: Any) -> Iterator[str]:
        """Yields a line for each value that does not fit a model; without any, nothing.

        Args:
            model: The recipe's `model`.
        """
        del model
        yield from ()
