"""The recipe of a run."""

from typing import Annotated

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.names import FolderName
from firth.recipes.base.recipe_type import Config
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.mixture import AnyMixture, AsIs
from firth.recipes.corpus.sources import AnySource
from firth.recipes.goals.goal import Goal
from firth.recipes.models.model import AnyModel, MaskedTransformerConfig
from firth.recipes.objectives.masking import MaskedLM
from firth.recipes.objectives.objective import AnyObjective
from firth.recipes.run.fit import conflicts
from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig, Sequences, WordPieceTokenizerConfig
from firth.recipes.training.evaluation import Evaluation
from firth.recipes.training.export import Export
from firth.recipes.training.training import Training


class Recipe(Config):
    """A whole run that pre-trains a model: its data, its model, its training and what is served.

    Attributes:
        name: Name of the run, and of its folder.
        description: Text for readers of `firth recipes` and of the report.
        seed: Seed of all random choices: weights, data order, masks and dropout.
        sources: Sources of the corpus, at least one.
        source_schema: Path of a pinned schema that the records of the sources must match. Without one, a run
            is checked against the schema that an earlier run left in its folder.
        cleaning: Steps from raw to clean documents, the split in train and eval, and limits of the outcome.
        tokenizer: Kind of tokenizer that is trained, and its size.
        mixture: Proportions of the sources in the training data.
        sequences: Rows that documents are packed into.
        objective: What the model learns to predict.
        model: Shape of the backbone.
        training: Steps, batches, optimizer, precision and checkpoints.
        evaluation: Metrics, and the thresholds that a model must keep to be pushed.
        export: Settings of the served signatures.

    Raises:
        ValueError: for combinations that cannot work, such as rows longer than the model's
            positions.
    """

    name: FolderName
    description: str = ""
    seed: Annotated[int, pydantic.Field(ge=0, lt=2**31)] = 42
    sources: Annotated[tuple[AnySource, ...], pydantic.Field(min_length=1)]
    source_schema: Annotated[str | None, NamesFiles()] = None
    cleaning: Cleaning = Cleaning()
    tokenizer: AnyTokenizerConfig = WordPieceTokenizerConfig()
    mixture: AnyMixture = AsIs()
    sequences: Sequences = Sequences()
    objective: AnyObjective = MaskedLM()
    model: AnyModel = MaskedTransformerConfig()
    training: Training = Training()
    evaluation: Evaluation = Evaluation()
    export: Export = Export()

    @property
    def goal(self) -> Goal:
        """The goal that the model is trained for: the objective."""
        return self.objective

    @pydantic.model_validator(mode="after")
    def _parts_fit(self) -> "Recipe":
        problems = list(dict.fromkeys(conflicts(self)))
        if problems:
            raise ValueError("\n".join(problems))
        return self
