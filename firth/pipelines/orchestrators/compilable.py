"""The pipelines that can be compiled: how each reads its recipe, and what a run may change."""

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tfx.orchestration.pipeline import Pipeline

from firth.pipelines import corpus as curate, finetune, pretrain
from firth.pipelines.labels import with_labels
from firth.recipes.reading.adapting import load_adapting_recipe
from firth.recipes.reading.loading import load_recipe
from firth.recipes.reading.raw_recipes import Option

STRING, INTEGER, DOUBLE = "STRING", "NUMBER_INTEGER", "NUMBER_DOUBLE"
RECIPE, OVERRIDES = "recipe", "overrides"


@dataclasses.dataclass(frozen=True)
class RunParameter:
    """A value that each run of a compiled pipeline may be given.

    Attributes:
        type: Type of PipelineSpec.
        about: Description for the user interface.
        key: Key of the recipe that it sets; empty for those that stand for more than a key.
    """

    type: str
    about: str
    key: str = ""

    @property
    def unset(self) -> str | int | float:
        """The value that leaves the recipe as it is."""
        return "" if self.type == STRING else 0

    def assignment(self, name: str, value: str | float) -> Option:
        """Returns what a value says of the recipe."""
        is_whole = self.type == INTEGER and isinstance(value, float) and value.is_integer()
        # The recipe refuses other values, with their key.
        exact = int(value) if is_whole else value
        return Option(f"{self.key}={exact}", f"run-time parameter {name}")


@dataclasses.dataclass(frozen=True)
class Compilable:
    """A pipeline that can be compiled.

    Attributes:
        create: Function of a recipe and a pipeline root, with the keywords of `pretrain.create_pipeline`.
        load: Function of a recipe's path, and of assignments `key=value` on top of it.
        own: Run-time parameters by name, next to `recipe` and `overrides`.
        prepare: Function that fills in what a recipe leaves open to its data.
        compares: Whether the pipeline compares its model with an earlier one.
    """

    create: Callable[..., Pipeline]
    load: Callable[..., Any]
    own: Mapping[str, RunParameter]
    prepare: Callable[[Any], Any] = lambda recipe: recipe
    compares: bool = True

    @property
    def parameters(self) -> dict[str, RunParameter]:
        """All run-time parameters by name."""
        recipe = (
            "A recipe's file, in a bucket or in the image, or a preset's name; empty for the compiled one."
        )
        overrides = "Assignments KEY=VALUE, one a line, as those of --set."
        return {
            RECIPE: RunParameter(STRING, recipe),
            OVERRIDES: RunParameter(STRING, overrides),
            **self.own,
        }


_RATE = {
    "learning_rate": RunParameter(
        DOUBLE, "Learning rate; 0 for the recipe's.", "training.optimizer.learning_rate"
    )
}
_SOURCES = {"sources": RunParameter(STRING, "Sources as JSON; empty for the recipe's.", "sources")}
_STEPS = {"steps": RunParameter(INTEGER, "Steps of training; 0 for the recipe's.", "training.steps")}
_DATA = {"data": RunParameter(STRING, "Labelled data as JSON; empty for the recipe's.", "data")}
_EPOCHS = {
    "epochs": RunParameter(DOUBLE, "Times that each record is trained on; 0 for the recipe's.", "epochs")
}

# By the name that a compiled pipeline carries.
PIPELINES: Mapping[str, Compilable] = MappingProxyType(
    {
        "pretrain": Compilable(pretrain.create_pipeline, load_recipe, {**_SOURCES, **_STEPS, **_RATE}),
        "curate": Compilable(curate.create_pipeline, load_recipe, _SOURCES, compares=False),
        "finetune": Compilable(
            finetune.create_pipeline, load_adapting_recipe, {**_DATA, **_EPOCHS, **_RATE}, with_labels
        ),
    }
)
