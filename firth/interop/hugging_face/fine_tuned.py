"""The task of a published model that was fine-tuned."""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from firth.interop.errors import InteropError
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.heads import Published, TaskHeads
from firth.interop.hugging_face.tensors import TensorReader
from firth.recipes.goals.goal import TextFrame
from firth.recipes.tasks.task import Task

_LABELS, _PROBLEM = "id2label", "problem_type"


class FineTuned(NamedTuple):
    """The task of a model, None without heads of a task, and sentences about heads that are left out."""

    task: Task | None = None
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class HeadChoices:
    """The choices of an import about the heads of a fine-tuned model.

    Attributes:
        labels: Names of the classes, joined by commas; None for those of the files.
        texts: `1` or `2`, the number of texts that a classifier reads; None for 1.
    """

    labels: str | None = None
    texts: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classes; none if they are not given."""
        if self.labels is None:
            return ()
        names = tuple(name.strip() for name in self.labels.split(","))
        if not all(names):
            raise InteropError(f"labels: {self.labels!r} has an empty name")
        return names

    @property
    def number_of_texts(self) -> int:
        """The number of texts."""
        if self.texts not in (None, "1", "2"):
            raise InteropError(f"texts: {self.texts!r} is not 1 or 2, the number of texts of a classifier")
        return int(self.texts or 1)

    def check_unused(self, path: str, reason: str = "it has no head of a task that comes in") -> None:
        """Passes if nothing is chosen, for a model without heads of a task.

        Args:
            path: Path of the model.
            reason: Why the choices have no head.
        """
        for name, value in dataclasses.asdict(self).items():
            if value is not None:
                raise InteropError(f"{path}: {name}: {value!r}: {reason}")


def read_task(
    path: str,
    config: Mapping[str, Any],
    family: Family,
    model: Any,
    tensors: Any,
    choices: HeadChoices,
    published: TextFrame,
) -> FineTuned:
    """Returns the task of a folder in Hugging Face's format, by the class in its configuration.

    Args:
        path: Path of the folder, for errors.
        config: Content of its `config.json`.
        family: Family of the model.
        model: Recipe's model.
        tensors: Tensors of the folder.
        choices: Choices of the import.
        published: Special tokens around a text of the published model, by their roles.

    Raises:
        InteropError: for choices that are not those of the head, or that have no head.
    """
    said = config.get("architectures") or ()
    found = [each for each in family.task_heads if each.architecture in said]
    heads = next(iter(found), None)
    if heads is None:
        choices.check_unused(path)
        return FineTuned()
    if reason := _why_not(heads, config, model):
        return _left_out(path, heads, choices, f"it {reason}")
    if heads.outputs not in tensors:
        choices.check_unused(path)
        return FineTuned(
            None, (f"no head comes in: {heads.architecture} has {heads.outputs}, which is not there",)
        )
    if reason := _why_not_trained(heads, config, tensors):
        return _left_out(path, heads, choices, f"it {reason}")
    try:
        task = _made(heads, model, tensors, choices, lambda: _labels(config))
    except InteropError as error:
        if choices != HeadChoices():
            raise InteropError(f"{path}: {error}") from None
        return _left_out(path, heads, choices, str(error))
    own = task.text_frame
    for verb, theirs, here, is_read in (
        ("begin", published.before, own.before, True),
        ("end", published.after, own.after, heads.reads_end),
    ):
        if is_read and theirs != here:
            tokens = [", ".join(each) or "no token" for each in (theirs, here)]
            note = f"its texts {verb} with {tokens[0]}, and those of a task here with {tokens[1]}"
            return _left_out(path, heads, choices, note)
    return FineTuned(task)


def _left_out(path: str, heads: TaskHeads, choices: HeadChoices, reason: str) -> FineTuned:
    """Returns no task, with a note; refuses choices, which are about a head."""
    note = f"the head of {heads.architecture} is left out: {reason}"
    choices.check_unused(path, note)
    return FineTuned(None, (note,))


def find_heads(heads: Sequence[TaskHeads], names: Collection[str], model: Any) -> TaskHeads | None:
    """Returns the first heads whose tensors are all among some names; None if there are none."""
    able = (each for each in heads if each.outputs and each.compute(model))
    return next(
        (each for each in able if {name for rule in each.rules(model) for name in rule.theirs} <= {*names}),
        None,
    )


def task_of(
    path: str,
    heads: TaskHeads,
    model: Any,
    tensors: TensorReader,
    choices: HeadChoices,
) -> Task:
    """Returns the task of heads without names of classes, with as many classes as they have outputs.

    Args:
        path: Path of the model, for errors.
        heads: Heads whose tensors are there.
        model: Recipe's model below them.
        tensors: Tensors by the names that the heads know.
        choices: Choices of the import.

    Raises:
        InteropError: for choices that are not those of the head.
    """
    try:
        return _made(heads, model, tensors, choices, tuple)
    except InteropError as error:
        raise InteropError(f"{path}: {error}") from None


def _made(
    heads: TaskHeads,
    model: Any,
    tensors: TensorReader,
    choices: HeadChoices,
    labels: Callable[[], tuple[str, ...]],
) -> Task:
    """Returns the task of heads, whose classes have the names that are chosen, or those of the files."""
    count, chosen = tensors.spec(heads.outputs).shape[0], choices.names
    made = heads.task(Published(count, lambda: chosen or labels(), model, choices.number_of_texts))
    named: Any = getattr(made, "labels", None)
    if chosen and named is None:
        raise InteropError(f"labels: {choices.labels!r}: a head of {made.kind} has no classes")
    if choices.texts is not None and "pair" not in type(made).model_fields:
        raise InteropError(f"texts: {choices.texts!r}: a head of {made.kind} has no choice of texts")
    if named is not None and len(named) != count:
        key = "labels" if chosen else _LABELS
        raise InteropError(f"{key}: {len(named)} names, and the head has {_outputs(count)}")
    return made


def _why_not(heads: TaskHeads, config: Mapping[str, Any], model: Any) -> str:
    """Returns why heads do not come in, as the end of a sentence; empty if they do."""
    if not heads.compute(model):
        return heads.otherwise
    for key, value in heads.only.items():
        if (found := config.get(key, value)) != value:
            return f"has {key}: {found!r}, and heads here {value!r}"
    return ""


def _why_not_trained(heads: TaskHeads, config: Mapping[str, Any], tensors: TensorReader) -> str:
    """Returns why heads do not come in for which they were trained, as `_why_not` does."""
    count = tensors.spec(heads.outputs).shape[0]
    here, found = heads.problem(count), config.get(_PROBLEM)
    if not here or found in (None, here):
        return ""
    return f"has {_PROBLEM}: {found!r}, and a head with {_outputs(count)} is one of {here} here"


def _outputs(count: int) -> str:
    return "1 output" if count == 1 else f"{count} outputs"


def _labels(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the names of the classes in the order of their numbers."""
    said = config.get(_LABELS) or {}
    try:
        named = {int(number): str(name) for number, name in said.items()}
    except (AttributeError, ValueError):
        raise InteropError(f"{_LABELS}: {said!r} does not name classes by their numbers") from None
    if sorted(named) != list(range(len(named))):
        raise InteropError(f"{_LABELS}: {sorted(named)} are not all numbers from 0")
    return tuple(named[number] for number in range(len(named)))
