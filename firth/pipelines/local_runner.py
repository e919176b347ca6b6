"""The pipeline file for TFX's own command line, on one machine.

    FIRTH_RECIPE=bert_mini tfx pipeline create --engine=local --pipeline_path=firth/pipelines/local_runner.py
    FIRTH_RECIPE=bert_mini tfx run create --engine=local --pipeline_name=bert_mini

`FIRTH_RECIPE` is a preset's name or a recipe's path (`demo` where it is not set), `FIRTH_ROOT` the folder
of all runs. The run is that of `firth run`, or of `firth finetune` for a recipe that adapts a model, with
its lock and its log, and `firth runs` lists it. Its last line reports the blessing; without one, the status
of the process is not 0.
"""

import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

from tfx.orchestration.local.local_dag_runner import LocalDagRunner

from firth import storage
from firth.interop.bases import imported_base
from firth.pipelines import local
from firth.recipes.reading.adapting import adapts, load_adapting_recipe
from firth.recipes.reading.loading import load_recipe
from firth.recipes.run.run_recipe import RunRecipe
from firth.tasks.task_options import read_to_hand_down

# As `firth run` ends.
_NOT_BLESSED = 3
_VERBOSE = local.RunOptions(verbose=True)


class RecipeRunner(LocalDagRunner):
    """TFX's local runner for TFX's command line, which runs a function of `local`.

    `tfx pipeline create` replaces `LocalDagRunner.run`, so that nothing runs.
    """

    def __init__(
        self,
        recipe: RunRecipe,
        root: pathlib.Path,
        run: Callable[..., Any],
        options: local.RunOptions = _VERBOSE,
    ) -> None:
        super().__init__()
        self._recipe, self._root, self._run_recipe, self._options = recipe, root, run, options

    def run_with_ir(self, pipeline: Any, run_options: Any = None) -> None:
        """Runs the recipe's pipeline, which is made again once the devices that it asks for are there.

        Raises:
            firth.pipelines.local.RunFailedError: if a component fails.
            SystemExit: with a status of its own if the model is not blessed.
        """
        if run_options is not None:
            raise ValueError("the whole pipeline runs: no options are taken")
        try:
            result = self._run_recipe(self._recipe, self._root, self._options)
        except (local.RunFolderError, local.RunLockedError) as error:
            sys.exit(f"error: {error}")
        if not result.blessed:
            print(f"{self._recipe.name} is not blessed: {'; '.join(result.reasons)}", file=sys.stderr)
            sys.exit(_NOT_BLESSED)
        print(f"{self._recipe.name} is blessed, and served from {result.served}")


def main() -> None:
    """Runs the recipe that the environment names."""
    storage.keep_temporary_files()
    name = os.environ.get("FIRTH_RECIPE", "demo")
    root = pathlib.Path(os.environ.get("FIRTH_ROOT", "firth-runs")).resolve()
    try:
        runner, pipeline = _prepared(name, root)
    except ValueError as error:
        sys.exit(f"error: FIRTH_RECIPE={name}: {error}")
    runner.run(pipeline)


def _prepared(name: str, root: pathlib.Path) -> tuple[RecipeRunner, Any]:
    if adapts(name):
        task, _, records = read_to_hand_down(load_adapting_recipe(name, root=root, import_base=imported_base))
        pipeline = local.create_local_finetuning_pipeline(task, root / task.name)
        return RecipeRunner(
            task, root, local.finetune, local.RunOptions(verbose=True, records=records)
        ), pipeline
    recipe = load_recipe(name, root=root, import_base=imported_base)
    return RecipeRunner(recipe, root, local.run), local.create_local_pipeline(recipe, root / recipe.name)


if __name__ == "__main__":
    main()
