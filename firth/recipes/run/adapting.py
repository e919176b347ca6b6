"""The recipe of a run that adapts a trained model to a task."""

from typing import Annotated, Any, ClassVar

import pydantic

from firth.recipes.models.model import AnyModel
from firth.recipes.run.adapting_fit import task_conflicts
from firth.recipes.run.base import Base
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tasks.data import AnyLabelledData
from firth.recipes.tasks.tasks import AnyTask
from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig, Sequences
from firth.recipes.training.evaluation import Evaluation
from firth.recipes.tuning.methods import AnyMethod, Full


class AdaptingRecipe(RunRecipe):
    """A run that starts from a model bundle and trains it for a task.

    Tokenizer and model are those of the bundle, written out, so that the bundle that is made stands on its
    own. `training.steps` and `training.batch_size` follow from `epochs` and `examples_per_step` when the rows
    are made, since a row holds several records.

    Attributes:
        data: Labelled records to learn from, and those to evaluate on.
        base: Model bundle that the run starts from.
        tokenizer: Tokenizer of the bundle.
        sequences: Rows that the records are laid out in.
        model: Shape of the bundle's backbone.
        task: What the model learns to answer.
        method: What of the model is trained, and what is added to it.
        epochs: Number of times that each record is trained on.
        examples_per_step: Records of a step, on average.

    Raises:
        ValueError: for parts that cannot work together.

    Example: see `tests/recipes/run/adapting_test.py`.
    """

    own_key: ClassVar[str] = "task"
    goal_key: ClassVar[str] = "task"

    data: AnyLabelledData
    base: Base
    tokenizer: AnyTokenizerConfig
    sequences: Sequences
    model: AnyModel
    task: AnyTask
    method: AnyMethod = Full()
    evaluation: Evaluation = Evaluation(thresholds=())
    epochs: Annotated[float, pydantic.Field(gt=0.0, le=1e6)] = 3.0
    examples_per_step: Annotated[int, pydantic.Field(ge=1, le=2**20)] = 32

    @property
    def start_key(self) -> dict[str, Any]:
        """What else the weights at the start follow from: the base, by its content, and the method."""
        return {"base": self.base.start_key, "method": self.method.model_dump()}

    @pydantic.model_validator(mode="after")
    def _parts_fit(self) -> "AdaptingRecipe":
        if problems := list(dict.fromkeys(task_conflicts(self))):
            raise ValueError("\n".join(problems))
        return self
