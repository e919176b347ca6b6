"""The base of all objectives: the facts that data, model and evaluation ask for."""

from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from firth.recipes.base.recipe_type import Config
from firth.recipes.tokenizers.tokenizer import Sequences

# Numbers of epochs: one, or int64 [n].
Epochs = TypeVar("Epochs", int, npt.NDArray[np.int64])


class Objective(Config):
    """The base of all objectives.

    Attributes:
        model_kinds: Kinds of the models that can learn it.
        uses_partner: True if it takes segments of another row.
    """

    model_kinds: ClassVar[tuple[str, ...]] = ()
    uses_partner: ClassVar[bool] = False
    if TYPE_CHECKING:
        kind: str

    @property
    def special_tokens(self) -> int:
        """Special tokens that this objective adds to each document of a row."""
        raise NotImplementedError

    @property
    def losses(self) -> dict[str, float]:
        """Names of the losses, the main one first, with their weights in the sum that is minimised."""
        return {"lm": 1.0}

    def raw_length(self, sequences: Sequences) -> int:
        """Returns the most raw tokens of a row: those of one document that just fills the row.

        A row of several documents holds `special_tokens` fewer for each one more.

        Args:
            sequences: Rows of the recipe.
        """
        return sequences.length - self.special_tokens

    def input_length(self, sequences: Sequences) -> int:
        """Returns the tokens of a row as the model (the encoder, where there are two) reads it.

        Args:
            sequences: Rows of the recipe.
        """
        return sequences.length

    def target_length(self, sequences: Sequences) -> int:
        """Returns the tokens of a row as a decoder reads it; 0 for a model without a decoder of its own.

        Args:
            sequences: Rows of the recipe.
        """
        del sequences
        return 0

    def epochs_drawn(self, epochs: Epochs) -> Epochs:
        """Returns the epochs whose random draws are used in the given ones: here the same.

        Args:
            epochs: Number of an epoch, or an array of them.
        """
        return epochs

    @property
    def has_pair_task(self) -> bool:
        """True if it learns how two segments are related, from the pooled `[CLS]`."""
        return not {"nsp", "sop"}.isdisjoint(self.losses)

    @property
    def main_loss(self) -> str:
        """The name of the loss whose perplexity is reported."""
        return next(iter(self.losses))
