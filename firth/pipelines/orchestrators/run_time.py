"""The task that reads a run's recipe when the run begins, and the values that all others take from it.

TFX writes the values of a recipe into the tasks of a compiled pipeline. Here each becomes an output of a
first task, which makes the same pipeline again in its container (`read_recipe`), from the recipe that the run
is given and from the files that the sources name by then. So a run may change any key, a scheduled run reads
what is new, and a task whose values stay the same is still taken from the cache.
"""

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tfx.orchestration.pipeline import Pipeline

from firth.pipelines import corpus as curate, finetune, pretrain
from firth.pipelines.orchestrators.targets import Document
from firth.recipes.reading.adapting import load_adapting_recipe, run_yaml
from firth.recipes.reading.loading import load_recipe
from firth.recipes.reading.raw_recipes import Option
from firth.recipes.run.run_recipe import RunRecipe
from firth.tasks.task_options import with_labels

if TYPE_CHECKING:
    from firth.pipelines.orchestrators.compiling import Settings

READER = "RecipeReader"
READER_COMMAND = ("python", "-m", "firth.pipelines.orchestrators.read_recipe")
# The reader's input with the compiled recipe and settings, as JSON.
COMPILED = "compiled"
EXECUTOR = "{}_executor"
STRING, INTEGER, DOUBLE = "STRING", "NUMBER_INTEGER", "NUMBER_DOUBLE"
RECIPE, OVERRIDES = "recipe", "overrides"


def add_recipe_reader(spec: Document, recipe: RunRecipe, settings: "Settings") -> None:
    """Puts the task that reads the recipe before all others, and gives them its outputs for their values."""
    outputs = {}
    for task, key, _ in constants(spec):
        name = output_name(task, key)
        outputs[name] = {"parameterType": _inputs_of(spec, task)[key]["parameterType"]}
        node = spec["root"]["dag"]["tasks"][task]
        taken = {"producerTask": READER, "outputParameterKey": name}
        node["inputs"]["parameters"][key] = {"taskOutputParameter": taken}
        node["dependentTasks"] = sorted({*node.get("dependentTasks", ()), READER})
    compiled = {
        "recipe": run_yaml(recipe),
        "settings": dataclasses.asdict(settings),
        "imported": imported(spec),
        "resolved": resolved(spec),
    }
    _add_reader(spec, settings, outputs, json.dumps(compiled))


def constants(spec: Document) -> Iterator[tuple[str, str, Any]]:
    """Yields each value that is written into a task with a container, as (task, key, value)."""
    executors = spec["deploymentSpec"]["executors"]
    for task, node in spec["root"]["dag"]["tasks"].items():
        if "container" not in executors[EXECUTOR.format(task)]:
            continue
        for key, source in list(node.get("inputs", {}).get("parameters", {}).items()):
            yield task, key, source["runtimeValue"]["constant"]


def imported(spec: Document) -> dict[str, Any]:
    """Returns the imports of a pipeline by task: a base, with its digest, cannot change from run to run."""
    executors = spec["deploymentSpec"]["executors"]
    importers = {
        task: executors[EXECUTOR.format(task)].get("importer") for task in spec["root"]["dag"]["tasks"]
    }
    return {
        task: [importer["artifactUri"], importer.get("metadata")]
        for task, importer in importers.items()
        if importer
    }


def resolved(spec: Document) -> list[str]:
    """Returns the tasks that look up artifacts of earlier runs."""
    executors = spec["deploymentSpec"]["executors"]
    return sorted(
        task for task in spec["root"]["dag"]["tasks"] if "resolver" in executors[EXECUTOR.format(task)]
    )


def output_name(task: str, key: str) -> str:
    """Returns the name of the reader's output for a task's value.

    Example:

    >>> output_name("Trainer", "train_args")
    'Trainer_train_args'
    """
    return f"{task}_{key}"


def _inputs_of(spec: Document, task: str) -> Document:
    return spec["components"][task]["inputDefinitions"]["parameters"]


def _add_reader(spec: Document, settings: "Settings", outputs: Document, compiled: str) -> None:
    parameters = PIPELINES[settings.pipeline].parameters
    defined = {
        name: {
            "parameterType": each.type,
            "defaultValue": each.unset,
            "isOptional": True,
            "description": each.about,
        }
        for name, each in parameters.items()
    }
    inputs = {name: {"componentInputParameter": name} for name in parameters}
    spec["root"]["inputDefinitions"] = {"parameters": defined}
    spec["components"][READER] = {
        "executorLabel": EXECUTOR.format(READER),
        "inputDefinitions": {"parameters": {**defined, COMPILED: {"parameterType": STRING}}},
        "outputDefinitions": {"parameters": outputs},
    }
    # It is never taken from the cache: files may have changed.
    spec["root"]["dag"]["tasks"][READER] = {
        "taskInfo": {"name": READER},
        "componentRef": {"name": READER},
        "inputs": {"parameters": {**inputs, COMPILED: {"runtimeValue": {"constant": compiled}}}},
    }
    spec["deploymentSpec"]["executors"][EXECUTOR.format(READER)] = {
        "container": {"image": settings.image, "command": list(READER_COMMAND), "args": ["{{$}}"]}
    }


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

    def option(self, name: str, value: str | float) -> Option:
        """Returns the option that gives a value to the key."""
        is_whole = self.type == INTEGER and isinstance(value, float) and value.is_integer()
        # The recipe refuses other values, with their key.
        exact = int(value) if is_whole else value
        return Option.read(f"{self.key}={exact}", f"run-time parameter {name}")


@dataclasses.dataclass(frozen=True)
class Compilable:
    """A pipeline that can be compiled.

    Attributes:
        create: Function of a recipe and a pipeline root, with the keywords of `pretrain.create_pipeline`.
        load: Function of a recipe's path, and of assignments `key=value` on top of it.
        own: Run-time parameters by name, next to `recipe` and `overrides`.
        prepare: Function that fills in the values that a recipe leaves open to its data.
        compares: True if the pipeline compares its model with an earlier one.
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
