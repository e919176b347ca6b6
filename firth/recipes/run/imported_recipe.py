"""The recipes of models that somebody else has trained."""

from typing import ClassVar

import pydantic

from firth.recipes.models.model import AnyModel
from firth.recipes.objectives.objective import AnyObjective
from firth.recipes.run.adapting import task_model_conflicts
from firth.recipes.run.fit import model_conflicts
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tasks.tasks import AnyTask
from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig, Sequences
from firth.recipes.training.evaluation import TaskEvaluation


class ImportedRecipe(RunRecipe):
    """A model of another library, as what it would be in a run that pre-trains: all but its corpus.

    Example: see `firth.interop.hugging_face.import_model`.
    """

    own_key: ClassVar[str] = "imported_from"
    goal_key: ClassVar[str] = "objective"
    has_projections: ClassVar[bool] = True

    imported_from: str
    """Format and origin of the model, for readers."""
    tokenizer: AnyTokenizerConfig
    """Tokenizer that came with the model."""
    sequences: Sequences
    """Longest rows that are read."""
    objective: AnyObjective
    """Objective that the model's heads are made for."""
    model: AnyModel
    """Shape of the backbone."""

    @pydantic.model_validator(mode="after")
    def _parts_fit(self) -> "ImportedRecipe":
        if problems := list(dict.fromkeys(model_conflicts(self))):
            raise ValueError("\n".join(problems))
        return self


class ImportedTaskRecipe(RunRecipe):
    """A model of another library that was fine-tuned, as a run here would have adapted it: all but its data.

    Raises:
        ValueError: for parts that cannot work together.

    Example: see `firth.interop.hugging_face.import_model`.
    """

    own_key: ClassVar[str] = "task_imported_from"
    goal_key: ClassVar[str] = "task"
    has_projections: ClassVar[bool] = True

    task_imported_from: str
    """Format and origin of the model, for readers."""
    tokenizer: AnyTokenizerConfig
    """Tokenizer that came with the model."""
    sequences: Sequences
    """Longest rows that are read."""
    task: AnyTask
    """Task that the model was fine-tuned for."""
    model: AnyModel
    """Shape of the backbone."""
    evaluation: TaskEvaluation = TaskEvaluation()

    @pydantic.model_validator(mode="after")
    def _parts_fit(self) -> "ImportedTaskRecipe":
        if problems := list(dict.fromkeys(task_model_conflicts(self))):
            raise ValueError("\n".join(problems))
        return self
