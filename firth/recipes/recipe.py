"""The recipe: everything that a run is made of."""

from typing import Annotated

import pydantic

from firth.recipes.base import Config
from firth.recipes.cleaning import Cleaning
from firth.recipes.evaluation import Evaluation
from firth.recipes.export import Export
from firth.recipes.file_names import NamesFiles
from firth.recipes.fit import misfits
from firth.recipes.masking import MaskedLM
from firth.recipes.mixture import AnyMixture, AsIs
from firth.recipes.model import AnyModel, MaskedTransformer
from firth.recipes.names import FolderName
from firth.recipes.objective import AnyObjective
from firth.recipes.sources import AnySource
from firth.recipes.tokenizer import AnyTokenizer, Sequences, WordPieceTokenizer
from firth.recipes.training import Training


class Recipe(Config):
    """A whole run: sources, cleaning, tokenizer, mixture, sequences, objective, model, training, and so on.

    Attributes:
        source_schema: Path of a pinned schema, which the records of the sources must match. Without one, a
            run is checked against the schema that an earlier run left in its folder.

    Raises:
        pydantic.ValidationError: for combinations that cannot work, such as rows longer than the model's
            positions.
    """

    name: FolderName
    description: str = ""
    seed: Annotated[int, pydantic.Field(ge=0, lt=2**31)] = 42
    sources: Annotated[tuple[AnySource, ...], pydantic.Field(min_length=1)]
    source_schema: Annotated[str | None, NamesFiles()] = None
    cleaning: Cleaning = Cleaning()
    tokenizer: AnyTokenizer = WordPieceTokenizer()
    mixture: AnyMixture = AsIs()
    sequences: Sequences = Sequences()
    objective: AnyObjective = MaskedLM()
    model: AnyModel = MaskedTransformer()
    training: Training = Training()
    evaluation: Evaluation = Evaluation()
    export: Export = Export()

    @pydantic.model_validator(mode="after")
    def _parts_fit(self):
        problems = list(dict.fromkeys(misfits(self)))
        if problems:
            raise ValueError("\n".join(problems))
        return self
