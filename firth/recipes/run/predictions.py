"""Records without labels that a run's model is asked about, once it is blessed."""

from typing import Annotated

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Config
from firth.recipes.tasks.data import quoted_problem


class BulkPredictions(Config):
    """A file of records whose labels nobody knows."""

    input: Annotated[str, NamesFiles()]
    """csv, tsv, jsonl or txt file, compressed with gzip or not, as for `firth predict --input`."""
    columns: dict[str, str] = pydantic.Field(default={})
    """Column of some inputs of the task's signature, such as `text: review`; without it those of the recipe's
    data, or of the inputs' names."""
    quoted: bool | None = None
    """Whether cells of a tsv file may be in quotation marks; with false, the marks are a part of the text.
    With null as in the recipe's data; if these have no such key, a tsv with such a cell is refused."""

    @pydantic.model_validator(mode="after")
    def _quotes_are_of_a_tsv(self) -> "BulkPredictions":
        if problem := quoted_problem(self.quoted, [self.input]):
            raise ValueError(problem)
        return self
