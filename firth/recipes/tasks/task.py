"""The base of all downstream tasks."""

from typing import ClassVar

from firth.features import Spec
from firth.recipes.goals.goal import Goal
from firth.recipes.tokenizers.tokenizer import Sequences


class Task(Goal):
    """What a model is adapted to answer, learned from labelled records.

    A record stands on disk as a row does, with its texts as the row's chunks, and with its labels next to
    them. `firth.tasks.TASKS` has the function of each kind from such a row to Features.

    Attributes:
        label_specs: Names, dtypes and shapes of a record's labels.
    """

    label_specs: ClassVar[dict[str, Spec]] = {}

    def row_specs(self, sequences: Sequences, max_characters: int = 0) -> dict[str, Spec]:
        """Returns what a record holds: a row's fields, and the labels.

        Args:
            sequences: Rows of the recipe.
            max_characters: Characters of a word, for tokenizers of words.
        """
        return {**super().row_specs(sequences, max_characters), **self.label_specs}
