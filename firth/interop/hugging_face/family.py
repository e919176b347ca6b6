"""Base type of the families of models that are imported from and exported to Hugging Face's format."""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from firth.interop.hugging_face.config import KEYS, Field, Keys, differences, read_model, write_config
from firth.interop.hugging_face.heads import FamilyHeads, TaskHeads
from firth.interop.hugging_face.rules import Rule, Rules, below
from firth.interop.hugging_face.tensors import Tensors
from firth.recipes.goals.goal import Goal
from firth.recipes.objectives.objective import AnyObjective

CONFIG = "config.json"


@dataclasses.dataclass(frozen=True)
class Family:
    """A family of models.

    Attributes:
        model_type: Name of the family in `config.json`.
        architecture: Name of transformers' class of the base model.
        base: Name of the base model within a model with heads, such as `bert`; its tensors begin with it,
            and those of a base model alone do not.
        fields: Values of both.
        always: Values of ours by path that all models of the family have.
        objective: Function from the names of a checkpoint's tensors to the objective of its heads, or of
            those that it is given.
        backbone: Function from a model to the rules of its backbone, by names below the base.
        heads: Heads of objectives that transformers has classes for, those with the most losses first.
        theirs_always: Values of theirs that all models have that can be expressed here.
        unread: Endings of names of tensors that hold no weights of a model, such as position ids.
        copies: Names of tensors that repeat another one, each with the name of that one.
        zeros: Names of tensors that are zeros in every model that can be expressed here.
        spread: Function from a configuration to one in which each value has a key of its own.
        gathered: Function back from such a configuration to theirs.
        fitted: Function from a model and the ids of the special tokens by role to a model that computes the
            same, and can be expressed with these ids.
        length_key: Key of the longest text of models without a table of positions.
        task_heads: Heads of tasks that transformers has classes for.
        of_tensors: Function from a model and a checkpoint's tensors to the model that they are of, where the
            configuration does not say it.
    """

    model_type: str
    architecture: str
    base: str
    fields: Sequence[Field]
    always: Mapping[str, Any]
    objective: Callable[[Collection[str]], AnyObjective]
    backbone: Callable[[Any], Rules]
    heads: Sequence[FamilyHeads]
    theirs_always: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    unread: tuple[str, ...] = ("position_ids",)
    copies: Mapping[str, str] = dataclasses.field(default_factory=dict)
    zeros: tuple[str, ...] = ()
    spread: Callable[[dict[str, Any]], dict[str, Any]] = dict
    gathered: Callable[[dict[str, Any]], dict[str, Any]] = dict
    fitted: Callable[[Any, Mapping[str, int]], Any] = lambda model, ids: model
    length_key: str = ""
    task_heads: Sequence[TaskHeads] = ()
    of_tensors: Callable[[Any, Tensors], Any] = lambda model, tensors: model

    def read_model(self, config: Mapping[str, Any]) -> Any:
        """Returns the recipe's model that a configuration describes.

        Raises:
            InteropError: for a key that is not known, or a value that cannot be expressed here.
        """
        return read_model(self.spread(self.plain(config)), self.fields, self.always, self.theirs_always)

    def plain(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a configuration in which each value has the key that is written.

        Raises:
            InteropError: for a key that is not known, or a value that cannot be expressed here.
        """
        return self.keys.plain(config, self.field_keys)

    @property
    def keys(self) -> Keys:
        """The keys of a configuration that no field reads."""
        return KEYS.get(self.model_type, Keys())

    @property
    def field_keys(self) -> set[str]:
        """The keys of a configuration that fields read, or that have one value alone."""
        return {field.theirs for field in self.fields} | {*self.theirs_always}

    def length_of(self, config: Mapping[str, Any]) -> tuple[int | None, str]:
        """Returns the most tokens of a text that a configuration says, and by which key."""
        keys = [field.theirs for field in self.fields if field.ours == "positions.length"]
        key = (keys or [self.length_key])[0]
        # A table of positions has as many rows as the model says.
        said = None if keys else self.plain(config).get(key)
        is_number = isinstance(said, int) and not isinstance(said, bool) and said > 0
        return said if is_number else None, f"{CONFIG}: {key}" if keys or is_number else ""

    def notes(self, config: Mapping[str, Any]) -> list[str]:
        """Returns the training settings of a configuration that are not in force here, as sentences."""
        return list(self.keys.notes(self.plain(config)))

    def write_config(self, model: Any) -> dict[str, Any]:
        """Returns the content of `config.json` that describes a recipe's model.

        Raises:
            InteropError: for a value that cannot be expressed there.
        """
        config = write_config(model, self.fields, self.always, self.theirs_always)
        return {"model_type": self.model_type, **self.gathered(config)}

    def differences(self, model: Any) -> list[str]:
        """Returns the keys of a recipe's model that the configuration cannot express; empty if none."""
        return differences(model, self.fields, self.always, self.theirs_always)

    def heads_of(self, model: Any, goal: Goal) -> FamilyHeads | None:
        """Returns the heads of a goal; None if transformers has no class that computes the same."""
        return next((heads for heads in self._matching(goal) if heads.compute(model)), None)

    def not_computed(self, model: Any, goal: Goal) -> FamilyHeads | None:
        """Returns the heads of a goal whose class computes something other than ours; None if none does."""
        if self.heads_of(model, goal):
            return None
        return next(iter(self._matching(goal)), None)

    def _matching(self, goal: Goal) -> list[FamilyHeads]:
        return [heads for heads in (*self.heads, *self.task_heads) if heads.match(goal)]

    def rules(self, model: Any, goal: Goal) -> list[Rule]:
        """Returns the rules of all weights of a model with heads."""
        heads = self.heads_of(model, goal)
        return [*self.backbone_rules(model), *(heads.rules(model) if heads else ())]

    def backbone_rules(self, model: Any) -> list[Rule]:
        """Returns the rules of the weights of a backbone, by paths that begin with `backbone/`."""
        return list(below(f"{self.base}." if self.base else "", self.backbone(model)))
