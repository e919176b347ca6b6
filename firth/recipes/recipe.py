"""The recipe: everything that a run is made of."""

from typing import Annotated

import pydantic

from firth.recipes.base import Config
from firth.recipes.cleaning import Cleaning
from firth.recipes.evaluation import Evaluation
from firth.recipes.export import Export
from firth.recipes.model import Bert
from firth.recipes.objective import MaskedLM
from firth.recipes.sources import AnySource
from firth.recipes.tokenizer import Sequences, WordPieceTokenizer
from firth.recipes.training import Training


class Recipe(Config):
    """A whole run: sources, cleaning, tokenizer, sequences, objective, model, training, evaluation, export.

    Raises:
        pydantic.ValidationError: for combinations that cannot work, such as rows longer than the model's
            positions.
    """

    name: Annotated[str, pydantic.Field(pattern=r"^[A-Za-z0-9_-]+$")]
    description: str = ""
    seed: int = 42
    sources: Annotated[tuple[AnySource, ...], pydantic.Field(min_length=1)]
    cleaning: Cleaning = Cleaning()
    tokenizer: WordPieceTokenizer = WordPieceTokenizer()
    sequences: Sequences = Sequences()
    objective: MaskedLM = MaskedLM()
    model: Bert = Bert()
    training: Training = Training()
    evaluation: Evaluation = Evaluation()
    export: Export = Export()

    @pydantic.model_validator(mode="after")
    def _parts_fit(self):
        problems = list(dict.fromkeys(_misfits(self)))
        if problems:
            raise ValueError("\n".join(problems))
        return self


def _misfits(recipe: Recipe):
    length, positions = recipe.sequences.length, recipe.model.positions
    if length > positions:
        yield f"sequences.length: {length} is above model.positions: {positions}"
    predictions = recipe.objective.max_predictions
    if predictions > length:
        yield f"objective.max_predictions: {predictions} is above sequences.length: {length}"
    if recipe.objective.next_sentence and recipe.model.segments < 2:
        yield "objective.next_sentence needs model.segments: 2"
    names = [source.name for source in recipe.sources]
    for name in names:
        if names.count(name) > 1:
            yield f"sources: two are named {name!r}; give each a name of its own"
    if not recipe.objective.next_sentence:
        if recipe.export.pooling == "cls":
            yield "export.pooling: cls needs objective.next_sentence: true, which trains the pooled [CLS]"
        for threshold in recipe.evaluation.thresholds:
            if threshold.metric == "nsp_accuracy":
                yield "evaluation.thresholds: nsp_accuracy needs objective.next_sentence: true"
