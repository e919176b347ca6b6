"""Records without labels that a run's model is asked about, once it is blessed."""

from typing import Annotated

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Config


class BulkPredictions(Config):
    """A file of records whose labels nobody knows.

    Attributes:
        input: csv, tsv, jsonl or txt file, compressed with gzip or not, as for `firth predict --input`.
        columns: Column of some inputs of the task's signature, such as `text: review`; without it those of
            the recipe's data, or of the inputs' names.
    """

    input: Annotated[str, NamesFiles()]
    columns: dict[str, str] = pydantic.Field(default={})
