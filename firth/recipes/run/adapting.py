"""The recipe of a run that adapts a trained model to a task."""

import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import pydantic

from firth.recipes.base.types import configs_in
from firth.recipes.models.model import AnyModel
from firth.recipes.run.adapting_fit import task_conflicts
from firth.recipes.run.base import Base
from firth.recipes.run.predictions import BulkPredictions
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.validation import TaskValidation
from firth.recipes.tasks.data import AnyLabelledData, labelled_data_from_json
from firth.recipes.tasks.tasks import AnyTask
from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig, Sequences
from firth.recipes.training.evaluation import TaskEvaluation
from firth.recipes.training.optimizers import AnyOptimizer
from firth.recipes.training.training import Training
from firth.recipes.tuning.method import Method
from firth.recipes.tuning.methods import AnyMethod, Full

# The training of a recipe that does not state it; the warm-up follows from `warmup`.
TRAINING: dict[str, Any] = {"optimizer": {"kind": "adamw", "learning_rate": 5e-5, "warmup_steps": 0}}
# Values of a counted key that say nothing: what the kinds of optimizers have by themselves, which stands in
# the recipes of runs.
SAYING_NOTHING: dict[str, tuple[int, ...]] = {
    "training.optimizer.warmup_steps": (
        0,
        *(each.model_fields["warmup_steps"].default for each in configs_in(AnyOptimizer)),
    )
}


class AdaptingRecipe(RunRecipe):
    """A run that starts from a model bundle and trains it for a task.

    Tokenizer and model are those of the bundle, written out, so that the bundle that is made stands on its
    own. `training.steps` and `training.batch_size` follow from `epochs` and `examples_per_step` when the rows
    are made, since a row holds several records.

    Raises:
        ValueError: for parts that cannot work together.

    Example: see `tests/recipes/run/adapting_test.py`.
    """

    own_key: ClassVar[str] = "task"
    goal_key: ClassVar[str] = "task"
    data_key: ClassVar[str] = "data"
    searched_keys: ClassVar[tuple[str, ...]] = (
        *("training", "method", "warmup", "epochs", "examples_per_step"),
    )
    counted_keys: ClassVar[Mapping[str, str]] = {
        "training.steps": "epochs",
        "training.batch_size": "examples_per_step",
        "training.optimizer.warmup_steps": "warmup",
    }

    data: AnyLabelledData
    """Labelled records to learn from, and those to evaluate on."""
    validation: TaskValidation = TaskValidation()
    """How far the records may be from those of the last run, and from requests."""
    base: Base
    """Model bundle that the run starts from."""
    tokenizer: AnyTokenizerConfig
    """Tokenizer of the bundle."""
    sequences: Sequences
    """Rows that the records are laid out in."""
    model: AnyModel
    """Shape of the bundle's backbone."""
    task: AnyTask
    """What the model learns to answer."""
    method: AnyMethod = Full()
    """What of the model is trained, and what is added to it."""
    predictions: BulkPredictions | None = None
    """Records without labels that the blessed model is asked about; null for none."""
    training: Training = Training.of(TRAINING)
    evaluation: TaskEvaluation = TaskEvaluation()
    warmup: Annotated[float, pydantic.Field(ge=0.0, lt=1.0)] = 0.06
    """Share of the steps in which the learning rate rises from zero."""
    epochs: Annotated[float, pydantic.Field(gt=0.0, le=1e6)] = 3.0
    """Number of times that each record is trained on."""
    examples_per_step: Annotated[int, pydantic.Field(ge=1, le=2**20)] = 32
    """Records of a step, on average."""

    @classmethod
    def reads_in(cls, data: Any) -> list[str]:
        """Returns the files of the labelled data.

        Args:
            data: Plain value of `data`.

        Raises:
            ValueError: if it is not that of labelled data.
        """
        return labelled_data_from_json(json.dumps(data)).reads

    @property
    def start_key(self) -> dict[str, Any]:
        """What else the weights at the start follow from: the base, by its content, and the method."""
        return {"base": self.base.start_key, "method": self.method.model_dump()}

    @property
    def trained_by(self) -> Method:
        """Its `method`."""
        return self.method

    @property
    def counts_epochs(self) -> bool:  # type: ignore[override]
        """Whether the steps of its training follow from its rows; see `scheduled`."""
        return True

    def scheduled(self, rows: int, records: int) -> "AdaptingRecipe":
        """Returns the recipe with steps that make `epochs`, of about `examples_per_step` records.

        A batch has as many rows as its parts, on devices and one after another, divide.
        A held-out loss is measured, and a checkpoint written, after each epoch, or as often as the training
        says if that is more often, and after the last step.

        Args:
            rows: Number of rows of the training split.
            records: Number of records in them.

        Raises:
            ValueError: if the method does not fit so many steps.
        """
        parts = self.training.batch_parts
        batch = parts * max(1, round(min(rows, self.examples_per_step * rows / records) / parts))
        epoch = max(1, math.ceil(rows / batch))
        steps = max(1, math.ceil(self.epochs * rows / batch))
        if problems := list(self.method.steps_conflicts(steps)):
            raise ValueError("\n".join(problems))
        optimizer = self.training.optimizer.model_copy(
            update={"warmup_steps": min(steps - 1, round(self.warmup * steps))}
        )
        counted = {"steps": steps, "batch_size": batch, "optimizer": optimizer}
        evaluates = self.training.eval_every_steps
        often = {
            "checkpoint_every_steps": min(epoch, self.training.checkpoint_every_steps),
            "eval_every_steps": None if evaluates is None else min(epoch, evaluates),
        }
        return self.model_copy(update={"training": self.training.model_copy(update={**counted, **often})})

    @pydantic.model_validator(mode="after")
    def _parts_fit(self) -> "AdaptingRecipe":
        if problems := list(dict.fromkeys(task_conflicts(self))):
            raise ValueError("\n".join(problems))
        return self
