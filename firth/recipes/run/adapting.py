"""The recipe of a run that adapts a trained model to a task."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

import pydantic

from firth.recipes.base.errors import suggest
from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Config
from firth.recipes.base.types import configs_in
from firth.recipes.models.model import AnyModel
from firth.recipes.run.base import Base
from firth.recipes.run.fit import device_conflicts, export_conflicts
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.search import search_conflicts
from firth.recipes.run.validation import TaskValidation
from firth.recipes.tasks.data import AnyLabelledData, labelled_data_from_json, quoted_problem
from firth.recipes.tasks.tasks import AnyTask
from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig, Sequences
from firth.recipes.training.evaluation import TaskEvaluation
from firth.recipes.training.optimizers import AnyOptimizer
from firth.recipes.training.training import Training
from firth.recipes.tuning.method import Method
from firth.recipes.tuning.methods import AnyMethod, Full

if TYPE_CHECKING:
    from firth.recipes.run.imported_recipe import ImportedTaskRecipe

    AnyOfTask: TypeAlias = "AdaptingRecipe | ImportedTaskRecipe"


class BulkPredictions(Config):
    """A file of records whose labels nobody knows."""

    input: Annotated[str, NamesFiles()]
    """csv, tsv, jsonl or txt file, compressed with gzip or not, as for `firth predict --input`."""
    columns: dict[str, str] = pydantic.Field(default={})
    """Column of some inputs of the task's signature, such as `text: review`; without it those of the recipe's
    data, or of the inputs' names."""
    quoted: bool | None = None
    """True if cells of a tsv file may be in quotation marks; with false, the marks are a part of the text.
    With null as in the recipe's data; if these have no such key, a tsv with such a cell is refused."""

    @pydantic.model_validator(mode="after")
    def _quotes_are_of_a_tsv(self) -> "BulkPredictions":
        if problem := quoted_problem(self.quoted, [self.input]):
            raise ValueError(problem)
        return self


# The training of a recipe that does not state it; the warm-up follows from `warmup`.
TRAINING: dict[str, Any] = {"optimizer": {"kind": "adamw", "learning_rate": 5e-5, "warmup_steps": 0}}
# Values of a counted key that nobody has chosen: the defaults of all optimizers, which are in the recipes of
# runs.
UNCHOSEN_VALUES: dict[str, tuple[int, ...]] = {
    "training.optimizer.warmup_steps": (
        0,
        *(each.model_fields["warmup_steps"].default for each in configs_in(AnyOptimizer)),
    )
}


class AdaptingRecipe(RunRecipe):
    """A run that starts from a model bundle and trains it for a task.

    Tokenizer and model are those of the bundle, written out, so that the new bundle is complete by itself.
    `training.steps` and `training.batch_size` follow from `epochs` and `examples_per_step` when the rows are
    made, since a row holds several records.

    Raises:
        ValueError: for parts that cannot work together.

    Example: see `tests/recipes/run/adapting_test.py`.
    """

    own_key: ClassVar[str] = "task"
    goal_key: ClassVar[str] = "task"
    data_key: ClassVar[str] = "data"
    counts_epochs: ClassVar[bool] = True
    searched_keys: ClassVar[tuple[str, ...]] = (
        *("training", "method", "warmup", "epochs", "examples_per_step"),
    )
    counted_keys: ClassVar[Mapping[str, str]] = {
        "training.steps": "epochs",
        "training.batch_size": "examples_per_step",
        "training.optimizer.warmup_steps": "warmup",
    }
    derived_keys: ClassVar[Mapping[str, str]] = {
        "name": "the name of the file",
        "tokenizer": "`base`",
        "sequences": "`task` and `base`",
        "model": "`base`",
        "method": "`task.form`",
        "training": "`method`, `task.form` and `base`",
        "export": "`base`",
    }

    data: AnyLabelledData
    """Labelled records to learn from, and those to evaluate on."""
    validation: TaskValidation = TaskValidation()
    """Limits of the distance of records to those of the last run, and to requests."""
    base: Base
    """Model bundle that the run starts from."""
    tokenizer: AnyTokenizerConfig
    """Tokenizer of the bundle."""
    sequences: Sequences
    """Rows that the records are laid out in."""
    model: AnyModel
    """Shape of the bundle's backbone."""
    task: AnyTask
    """Task that the model learns."""
    method: AnyMethod = Full()
    """Parts of the model that are trained, and those that are added to it."""
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
    def start_key(self) -> dict[str, Any]:  # type: ignore[override]
        """Further sources of the weights at the start: the base, by its content, and the method."""
        return {"base": self.base.start_key, "method": self.method.model_dump()}

    @property
    def trained_by(self) -> Method:
        """Its `method`."""
        return self.method

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


def task_conflicts(recipe: "AdaptingRecipe") -> Iterator[str]:
    """Yields a line for each pair of parts that cannot work together."""
    yield from task_model_conflicts(recipe)
    known = recipe.task.metric_names
    for number, threshold in enumerate(recipe.evaluation.thresholds):
        if threshold.metric not in known:
            yield (
                f"evaluation.thresholds.{number}.metric: {threshold.metric} is not a metric of "
                f"task.kind: {recipe.task.kind} with task.scores: {list(recipe.task.scores)}; "
                f"{suggest(threshold.metric, known)}"
            )
    yield from recipe.method.conflicts(recipe.model)
    yield from recipe.method.task_conflicts(recipe.task)
    yield from recipe.method.steps_conflicts(recipe.training.steps)
    if recipe.method.one_text_in_a_row:
        yield from _texts_of_a_row(recipe)
    sources, is_mixed = recipe.data.source.split("+"), recipe.data.mixture is not None
    if problem := recipe.task.sources_conflict(sources, is_mixed):
        yield problem
    if recipe.method.adds and recipe.base.added:
        yield (
            f"base.added_words, base.added_count: method.kind: {recipe.method.kind} does not train the token "
            "table, so the rows of new pieces would stay as they are made; leave them out"
        )
    yield from search_conflicts(recipe)
    if recipe.predictions is not None and not recipe.task.signature:
        yield f"predictions: a model of task.kind: {recipe.task.kind} has no signature to be asked with"
    yield from recipe.validation.conflicts(recipe.task.compared_features)


def task_model_conflicts(recipe: "AnyOfTask") -> Iterator[str]:
    """Yields a line for each pair of parts that cannot work together, data and training aside."""
    form, model = getattr(recipe.task, "form", None), recipe.model
    if form is not None and model.architecture not in form.architectures:
        yield (
            f"task.form.kind: {form.kind} is read by models of the architecture "
            f"{' or '.join(form.architectures)}, not by model.kind: {model.kind}, {model.architecture}"
        )
    if form is not None and form.separates_texts and model.reads_segments and not model.separates_segments:
        yield "task.form.segments: the base's model has one segment only, so it must be false"
    pooled = getattr(form, "pooling", "")
    pooling = recipe.task.served_poolings.get(pooled)
    if pooling is not None and recipe.export.pooling != pooling:
        yield (
            f"export.pooling: {recipe.export.pooling} does not give the vectors that task.form.pooling: "
            f"{pooled} trains; {pooling} does"
        )
    if recipe.export.long_texts == "windows" and not recipe.task.reads_windows:
        yield (
            f"export.long_texts: {recipe.export.long_texts} is of a class or a number for one text, not of "
            f"task.kind: {recipe.task.kind} with the texts {', '.join(recipe.task.roles)}; leave it out"
        )
    yield from _rows_too_long(recipe)
    if problem := recipe.task.lengths_conflict(recipe.sequences):
        yield problem
    yield from device_conflicts(recipe)
    yield from export_conflicts(recipe)


def _rows_too_long(recipe: "AnyOfTask") -> Iterator[str]:
    """Yields a line for each row that has, with what a method puts before it, more tokens than positions."""
    task, model, method = recipe.task, recipe.model, recipe.trained_by
    length = recipe.sequences.length
    before, of_decoder = method.virtual_tokens(model), method.decoder_virtual_tokens(model)
    written = task.target_length(recipe.sequences)
    reads_again = bool(getattr(getattr(task, "form", None), "decoder_start", ""))
    rows = []
    if written and getattr(task, "decoder_length", None) is not None:
        rows.append(("task.decoder_length", written, of_decoder))
    elif written or reads_again:
        before = max(before, of_decoder)
    for key, tokens, taken in [("sequences.length", length, before), *rows]:
        if model.longest is not None and tokens + taken > model.longest:
            after = f", and method.kind: {method.kind} takes {taken} of them" if taken else ""
            yield f"{key}: {tokens} tokens, but the base's model has positions for {model.longest}{after}"


def _texts_of_a_row(recipe: "AdaptingRecipe") -> Iterator[str]:
    """Yields a line if a row may hold several texts, and the method takes one."""
    documents, of_record = recipe.task.documents(recipe.sequences), recipe.task.documents_of_record
    before = f"but method.kind: {recipe.method.kind} puts virtual tokens before one"
    if of_record > 1:
        yield (
            f"task.kind: {recipe.task.kind} reads {of_record} texts of a record in a row, {before}; "
            "prefix_tuning and p_tuning_v2 put theirs before each"
        )
    elif documents > 1:
        yield (
            f"sequences.max_documents: a row may hold {documents} texts, {before}; "
            "say sequences.max_documents: 1"
        )
