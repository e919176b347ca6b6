"""What every objective says of itself, so that data, model and evaluation can be fitted to it."""

from typing import ClassVar

from firth.recipes.base.recipe_type import Config
from firth.recipes.tokenizers.tokenizer import Sequences


class Objective(Config):
    """The base of all objectives.

    Attributes:
        model_kinds: Of the models that can learn it.
        uses_partner: Whether it takes segments of another row.
    """

    model_kinds: ClassVar[tuple[str, ...]] = ()
    uses_partner: ClassVar[bool] = False

    @property
    def special_tokens(self) -> int:
        """Special tokens that this objective adds to each document of a row."""
        raise NotImplementedError

    @property
    def losses(self) -> dict[str, float]:
        """What is minimised: the names of the losses, the main one first, with their weights in the sum."""
        return {"lm": 1.0}

    def raw_length(self, sequences: Sequences) -> int:
        """Returns the most raw tokens of a row: those of one document that just fills the row.

        A row of several documents holds `special_tokens` fewer for each one more.
        """
        return sequences.length - self.special_tokens

    def input_length(self, sequences: Sequences) -> int:
        """Returns the tokens of a row as the model (the encoder, where there are two) reads it."""
        return sequences.length

    def target_length(self, sequences: Sequences) -> int:
        """Returns the tokens of a row as a decoder reads it; 0 where there is no decoder of its own."""
        del sequences
        return 0

    def epochs_drawn(self, epochs):
        """Returns the epochs whose random draws each of some epochs has, an int or an array: its own."""
        return epochs

    @property
    def has_pair_task(self) -> bool:
        """Whether it learns what holds between two segments, from the pooled `[CLS]`."""
        return not {"nsp", "sop"}.isdisjoint(self.losses)

    @property
    def main_loss(self) -> str:
        """The name of the loss whose perplexity is reported."""
        return next(iter(self.losses))
