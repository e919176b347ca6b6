"""The program of a compiled pipeline's first task: it writes the values of all others.

python -m firth.pipelines.orchestrators.read_recipe '{"inputs": ..., "outputs": ...}'
"""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from firth import storage
from firth.pipelines.orchestrators.compiling import Settings, tfx_job
from firth.pipelines.orchestrators.run_time import (
    COMPILED,
    OVERRIDES,
    PIPELINES,
    RECIPE,
    Compilable,
    constants,
    imported,
    output_name,
    resolved,
)
from firth.recipes.base.errors import RecipeError, suggest
from firth.recipes.base.file_names import named_files
from firth.recipes.reading.raw_recipes import Option, assign
from firth.recipes.run.run_recipe import RunRecipe

COMPILED_FILE = "compiled.yaml"


def main(executor_input: str) -> None:
    """Writes the values to the file that the orchestrator names.

    Raises:
        RecipeError: if the recipe of the run is not valid.
    """
    given = json.loads(executor_input)
    values = values_of_run(given["inputs"]["parameterValues"])
    asked = given["outputs"]["parameters"]
    if problems := [*(name for name in asked if name not in values), *(set(values) - set(asked))]:
        raise ValueError(
            "the recipe of this run makes another pipeline than the one that was compiled, which differs in "
            f"{', '.join(sorted(problems))}; compile it again, by the firth of the image"
        )
    storage.write_json(given["outputs"]["outputFile"], {"parameterValues": values})


def values_of_run(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of all tasks by the names of the reader's outputs.

    Raises:
        RecipeError: if the recipe of the run is not valid.
    """
    compiled = json.loads(inputs[COMPILED])
    stated = compiled["settings"]
    settings = Settings(**{**stated, "beam_pipeline_args": tuple(stated["beam_pipeline_args"])})
    kind = PIPELINES[settings.pipeline]
    recipe = kind.prepare(recipe_of_run(kind, compiled["recipe"], inputs))
    spec = tfx_job(recipe, settings)["pipelineSpec"]
    if imported(spec) != compiled["imported"]:
        raise ValueError(
            "base: this run names another model than the compiled pipeline imports; compile it again"
        )
    if other := set(resolved(spec)).symmetric_difference(compiled["resolved"]):
        raise ValueError(
            "warm_start: the recipe of this run makes another pipeline than the one that was compiled, which "
            f"differs in {', '.join(sorted(other))}; compile it again"
        )
    return {output_name(task, key): value for task, key, value in constants(spec)}


def recipe_of_run(kind: Compilable, compiled: str, inputs: Mapping[str, Any]) -> RunRecipe:
    """Returns the recipe of a run: the compiled one or another, changed as the run-time parameters say."""
    parameters = kind.parameters
    for name in inputs:
        if name not in parameters and name != COMPILED:
            raise RecipeError([f"no run-time parameter is named {name}; {suggest(name, parameters)}"])
    changes = [
        each.option(name, inputs[name])
        for name, each in parameters.items()
        if each.key and inputs.get(name, each.unset) != each.unset
    ]
    lines = [line.strip() for line in str(inputs.get(OVERRIDES) or "").splitlines()]
    changes += [Option.read(line, f"run-time parameter {OVERRIDES}: {line}") for line in lines if line]
    place = str(inputs.get(RECIPE) or "")
    if not place:
        with storage.scratch_folder() as folder:
            path = os.path.join(folder, COMPILED_FILE)
            storage.write_text(path, compiled)
            recipe: RunRecipe = kind.load(path, changes)
        return recipe
    if storage.is_local(place):
        return kind.load(place, changes)
    if not storage.exists(place):
        raise RecipeError([f"run-time parameter {RECIPE}: there is no file {place}"])
    with storage.local_copy(place) as path:
        return _moved(kind.load(path, changes), os.path.dirname(path), place.rpartition("/")[0])


def _moved(recipe: RunRecipe, copied_to: str, folder: str) -> RunRecipe:
    """Returns a recipe that was read from a copy, with files of its own folder for those next to the copy."""
    files = [each for each in named_files(recipe) if each.pattern.startswith(f"{copied_to}/")]
    data = recipe.model_dump(mode="json")
    for each in files:
        data = assign(data, each.key, folder + each.pattern.removeprefix(copied_to))
    return type(recipe).of(data) if files else recipe


if __name__ == "__main__":
    main(sys.argv[1])
