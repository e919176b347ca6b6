"""The base of all methods that adapt a model."""

from typing import TYPE_CHECKING

from firth.recipes.base.recipe_type import Config


class Method(Config):
    """What of a model is trained when it is adapted, and what is added to it.

    `firth.tuning.METHODS` has the function of each kind that prepares a built model.
    """

    if TYPE_CHECKING:
        kind: str
