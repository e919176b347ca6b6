"""The recipe: everything that a run is made of."""

from typing import Annotated

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.names import FolderName
from firth.recipes.base.recipe_type import Config
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.mixture import AnyMixture, AsIs
from firth.recipes.corpus.sources import AnySource
from firth.recipes.models.model import AnyModel, MaskedTransformerConfig
from firth.recipes.objectives.masking import MaskedLM
from firth.recipes.objectives.objective import AnyObjective
from firth.recipes.run.fit import misfits
from firth.recipes.tokenizers.tokenizer import AnyTokenizer, Sequences, WordPieceTokenizer
from firth.recipes.training.evaluation import Evaluation
from firth.recipes.training.export import Export
from firth.recipes.training.training import Training


class Recipe(Config):
    """A whole run: sources, cleaning, tokenizer, mixture, sequences, objective, model, training, and so on.

    Attributes:
        name: The name of the recipe and, unless the command says otherwise, of the run's folder. The name of
            the file if it is not given.
        description: One sentence, shown by `firth recipes` and by the report.
        seed: The number that data order, masks, initial weights and dropout follow from.
        sources: Where the text comes from.
        source_schema: Path of a pinned schema, which the records of the sources must match. Without one, a
            run is checked against the schema that an earlier run left in its folder.
        cleaning: The steps that clean the documents, the split, and the limits of what may come out.
        tokenizer: The kind of tokenizer that is trained on the cleaned text.
        mixture: How much of the training data comes from which source.
        sequences: How documents are cut and packed into rows of tokens.
        objective: What the model learns to predict.
        model: The shape of the model.
        training: Steps, batch, optimizer, precision, devices and checkpoints.
        evaluation: The evaluation's batch, and the thresholds that the model must keep.
        export: Settings of the served model.

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
    model: AnyModel = MaskedTransformerConfig()
    training: Training = Training()
    evaluation: Evaluation = Evaluation()
    export: Export = Export()

    @pydantic.model_validator(mode="after")
    def _parts_fit(self):
        problems = list(dict.fromkeys(misfits(self)))
        if problems:
            raise ValueError("\n".join(problems))
        return self
