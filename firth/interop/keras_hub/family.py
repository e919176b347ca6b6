"""Base type of the families of models that are imported from and exported to KerasHub."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.config import Field, read_model, whole_values
from firth.interop.hugging_face.rules import Array, Rule, Rules
from firth.recipes.goals.goal import Goal
from firth.recipes.objectives.objective import AnyObjective

Heads = Callable[[Any, Goal], Rules]
Spread = Callable[[dict[str, Any]], dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class PresetFamily:
    """A family of KerasHub.

    Attributes:
        backbone: Name of the backbone's class.
        tokenizer: Name of the tokenizer's class.
        fields: Values of both.
        always: Values of ours by path that all models of the family have.
        objective: Objective of a model that comes in; it has the heads that the backbone brings along.
        rules_of: Function from a model to the rules of its backbone.
        heads: Functions from a model and a goal to the rules of our heads.
        theirs_always: Values of theirs that all models have that can be expressed here.
        task: Name of the task whose head is exactly ours; without one, heads do not go along.
        task_head: Function from a model and a goal to the rules of that head.
        vocabulary_key: Key of the number of rows of the token table.
        spread: Function from a configuration to one in which each value has a key of its own.
        gathered: Function back from such a configuration to theirs.
    """

    backbone: str
    tokenizer: str
    fields: Sequence[Field]
    always: Mapping[str, Any]
    objective: AnyObjective
    rules_of: Callable[[Any], Rules]
    heads: tuple[Heads, ...] = ()
    theirs_always: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    task: str | None = None
    task_head: Heads | None = None
    vocabulary_key: str = "vocabulary_size"
    spread: Spread = dict
    gathered: Spread = dict

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys that a configuration may have, but for those that all have."""
        fields = dict.fromkeys(field.theirs for field in self.fields)
        return (*fields, *self.theirs_always, self.vocabulary_key)

    @property
    def folds_segments(self) -> bool:
        """True if the positions of ours include the only vector of segments of theirs."""
        ours = [field.ours for field in self.fields]
        return "positions.length" in ours and "embeddings.segments" not in ours

    def read_model(self, config: Mapping[str, Any]) -> Any:
        """Returns the recipe's model that a configuration describes.

        Raises:
            InteropError: for a value that cannot be expressed here.
        """
        return read_model(self.spread(dict(config)), self.fields, self.always, self.theirs_always)

    def write_config(self, model: Any) -> dict[str, Any]:
        """Returns the arguments of the backbone's class, but for the size of the vocabulary."""
        if different := list(self.differences(model)):
            raise InteropError(different[0])
        return self._written(model)

    def differences(self, model: Any) -> Iterator[str]:
        """Yields what the class cannot say of a model, by key; what acts in training alone is not asked."""
        ours = plain_values(model, self.folds_segments)
        try:
            back = plain_values(self.read_model(self._written(model)), self.folds_segments)
        except InteropError as error:
            yield f"KerasHub's {self.backbone} cannot express the model: {error}"
            return
        for path in dict.fromkeys([*ours, *back]):
            if ours.get(path) != back.get(path):
                yield (
                    f"model.{path}: {ours.get(path)!r} cannot be expressed by KerasHub's {self.backbone}, "
                    f"{back.get(path)!r} can"
                )

    def _written(self, model: Any) -> dict[str, Any]:
        values = plain_values(model, self.folds_segments, in_training=True)
        config = dict(self.theirs_always)
        for field in self.fields:
            if (value := values.get(field.ours)) is not None:
                config[field.theirs] = field.write(value)
        return self.gathered(config)

    def rules(self, model: Any, goal: Goal) -> list[Rule]:
        """Returns the rules of all weights that a preset of the backbone holds."""
        return [*self.rules_of(model), *(rule for heads in self.heads for rule in heads(model, goal))]


# What acts in training alone: weights that are there already need no start.
_IN_TRAINING = ("dropout", "initializer", "initializer_stddev")
_UNUSED, _SEGMENTS = "positions.unused", "embeddings.segments"
_TABLES = ("position/table", "segment/table")


def plain_values(model: Any, folds_segments: bool, in_training: bool = False) -> dict[str, Any]:
    """Returns the values of a model by path; two models that compute the same alike have the same ones.

    What a recipe leaves to be computed is stated, and rows of a table that are never read do not count.
    """
    values = dict(_flat(whole_values(model)))
    if _UNUSED in values:
        values[_UNUSED] = 0
    if folds_segments and values.get(_SEGMENTS) == 1:
        values[_SEGMENTS] = 0
    if "share_layers" in values:
        del values["share_layers"]
        values |= {"share_layers.groups": model.layers, "share_layers.blocks": 1}
    return {
        path: value
        for path, value in values.items()
        if in_training or not path.rpartition(".")[2].endswith(_IN_TRAINING)
    }


def plain_weights(weights: Mapping[str, Array], model: Any, folds_segments: bool) -> dict[str, Array]:
    """Returns the weights of a model as `plain_values` says it."""
    unused = dict(_flat(model.model_dump())).get(_UNUSED, 0)
    plain = {
        path: weight[unused:] if path.endswith(_TABLES[0]) else weight for path, weight in weights.items()
    }
    if folds_segments and model.embeddings.segments == 1:
        positions, segments = (f"backbone/embeddings/{table}" for table in _TABLES)
        plain[positions] = plain[positions] + plain.pop(segments)
    return plain


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
