"""The recipe of a run that adapts a trained model to a task."""

from typing import Any, ClassVar

import pydantic

from firth.recipes.models.model import AnyModel
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tasks.task import Task
from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig, Sequences
from firth.recipes.tuning.method import Method


class AdaptingRecipe(RunRecipe):
    """A run that starts from a model bundle and trains it for a task.

    Tokenizer, rows and model are those of the bundle, written out, so that the bundle that is made stands on
    its own.

    Attributes:
        start: Folder of the bundle that the run starts from.
        tokenizer: Tokenizer of the bundle.
        sequences: Rows that the task's texts are laid out in.
        model: Shape of the bundle's backbone.
        task: What the model learns to answer.
        method: What of the model is trained, and what is added to it.

    Example: see `tests/recipes/run/adapting_test.py`.
    """

    own_key: ClassVar[str] = "task"
    goal_key: ClassVar[str] = "task"

    start: str
    tokenizer: AnyTokenizerConfig
    sequences: Sequences
    model: AnyModel
    task: pydantic.SerializeAsAny[Task]
    method: pydantic.SerializeAsAny[Method]

    @property
    def start_key(self) -> dict[str, Any]:
        """The bundle's folder, which is never written anew in its place, and the method."""
        return {"start": self.start, "method": self.method.model_dump()}
