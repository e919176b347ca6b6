"""The facts that every objective states, so that data, model and evaluation can be fitted to it."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import pydantic

from firth.recipes.goals.goal import Goal
from firth.recipes.tokenizers.tokenizer import Sequences


class Objective(Goal):
    """The base of all objectives."""

    model_architecture: ClassVar[str] = ""
    """Inputs and outputs of a model that can learn it; see `firth.recipes.models.facts`."""
    reads_words: ClassVar[bool] = False
    """True if its tokens are whole words, read by their characters."""
    # Each part of a text with sentinels, as T5 writes it, is what one of them hides.
    writes_sentinels: ClassVar[bool] = True
    needs_case: ClassVar[bool] = False
    """True if it tells upper from lower case."""
    z_loss: float = pydantic.Field(default=0.0, ge=0.0)
    """Factor of the square of log Z, the logarithm of the softmax's sum, which is added in training to the
    losses over the vocabulary (Chowdhery et al. 2022, "PaLM", section 5, with 1e-4)."""

    @property
    def z_losses(self) -> dict[str, float]:  # type: ignore[override]
        """The factor of each loss over the vocabulary."""
        return {loss.name: self.z_loss for loss in self.loss_terms if self.z_loss and not loss.classes}

    def sentinels_needed(self, sequences: Sequences) -> int:
        """Returns how many sentinels the tokenizer must have.

        Args:
            sequences: Rows of the recipe.
        """
        return 0

    def with_start_tokens(self, roles: Sequence[str]) -> Any:
        """Returns the objective whose texts have some special tokens in front; here this one.

        Args:
            roles: Roles of the tokens in front of a text.
        """
        return self

    def conflicts(self, model: Any, sequences: Sequences) -> Iterator[str]:
        """Yields a line for each choice of the model or the rows that does not fit this objective.

        Args:
            model: The recipe's model, of the `model_architecture`.
            sequences: The recipe's sequences.
        """
        yield from ()
