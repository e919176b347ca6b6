"""What a family of models says about itself, to be brought in and out."""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from firth.interop.hugging_face.config_fields import Field, read_model, write_config
from firth.interop.hugging_face.rules import Rule, Rules, below
from firth.recipes.goals.goal import Goal
from firth.recipes.objectives.objective import AnyObjective


def no_heads(model: Any, goal: Goal) -> Rules:
    """Yields no rule: the family has no head with weights of its own.

    Args:
        model: Model of the recipe.
        goal: Goal of the recipe.
    """
    del model, goal
    yield from ()


@dataclasses.dataclass(frozen=True)
class Family:
    """A family of models.

    Attributes:
        model_type: Name of the family in `config.json`.
        base: Name of the base model within a model with heads, such as `bert`; its tensors begin with it,
            and those of a base model alone do not.
        fields: Values of both.
        always: Values of ours by path that all models of the family have.
        objective: Function from the names of a checkpoint's tensors to the objective of its heads, or of
            those that it is given.
        backbone: Function from a model to the rules of its backbone, by names below the base.
        heads: Function from a model and a goal to the rules of its heads.
        theirs_always: Values of theirs that all models have that can be expressed here.
        unread: Endings of names of tensors that hold no weights of a model, such as position ids.
        spread: Function from a configuration to one in which each value has a key of its own.
        gathered: Function back from such a configuration to theirs.
    """

    model_type: str
    base: str
    fields: Sequence[Field]
    always: Mapping[str, Any]
    objective: Callable[[Collection[str]], AnyObjective]
    backbone: Callable[[Any], Rules]
    heads: Callable[[Any, Goal], Rules] = no_heads
    theirs_always: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    unread: tuple[str, ...] = ()
    spread: Callable[[dict[str, Any]], dict[str, Any]] = dict
    gathered: Callable[[dict[str, Any]], dict[str, Any]] = dict

    def read_model(self, config: Mapping[str, Any]) -> Any:
        """Returns the recipe's model that a configuration describes.

        Args:
            config: Content of `config.json`.

        Raises:
            InteropError: for a value that cannot be expressed here.
        """
        return read_model(self.spread(dict(config)), self.fields, self.always, self.theirs_always)

    def write_config(self, model: Any) -> dict[str, Any]:
        """Returns the content of `config.json` that describes a recipe's model.

        Args:
            model: Model of the recipe.

        Raises:
            InteropError: for a value that cannot be expressed there.
        """
        config = write_config(model, self.fields, self.always, self.theirs_always)
        return {"model_type": self.model_type, **self.gathered(config)}

    def rules(self, model: Any, goal: Goal) -> list[Rule]:
        """Returns the rules of all weights of a model with heads.

        Args:
            model: Model of the recipe.
            goal: Goal of the recipe.
        """
        return [*self.backbone_rules(model), *self.heads(model, goal)]

    def backbone_rules(self, model: Any) -> list[Rule]:
        """Returns the rules of the weights of a backbone, by paths that begin with `backbone/`.

        Args:
            model: Model of the recipe.
        """
        return list(below(f"{self.base}." if self.base else "", self.backbone(model)))
