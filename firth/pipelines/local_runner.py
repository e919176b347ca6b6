"""The pipeline file for TFX's own command line, on one machine.

    FIRTH_RECIPE=bert_mini tfx pipeline create --engine=local --pipeline_path=firth/pipelines/local_runner.py
    FIRTH_RECIPE=bert_mini tfx run create --engine=local --pipeline_name=bert_mini

`FIRTH_RECIPE` is a preset's name or a recipe's path (`demo` where it is not set), `FIRTH_ROOT` the folder
of all runs. The run is that of `firth run`, with its lock and its log, and `firth runs` lists it.
"""

import os
import pathlib
import sys
from typing import Any

from tfx.orchestration.local.local_dag_runner import LocalDagRunner

from firth.pipelines import local
from firth.recipes import Recipe
from firth.recipes.reading.loading import load_recipe


class RecipeRunner(LocalDagRunner):
    """TFX's local runner, as far as TFX's command line looks: what runs is `firth.pipelines.local.run`.

    `tfx pipeline create` puts a function in the place of `LocalDagRunner.run`, so that nothing runs.

    Args:
        recipe: Recipe to run.
        root: Folder of all runs.
    """

    def __init__(self, recipe: Recipe, root: pathlib.Path) -> None:
        super().__init__()
        self._recipe, self._root = recipe, root

    def run_with_ir(self, pipeline: Any, run_options: Any = None) -> None:
        """Runs the recipe's pipeline, which is made again once the devices that it asks for are there.

        Args:
            pipeline: Compiled pipeline.
            run_options: Options of TFX, which must be None: the whole pipeline runs.

        Raises:
            ValueError: for options, which would ask for a part of the pipeline.
            firth.pipelines.local.RunFailedError: if a component fails.
        """
        if run_options is not None:
            raise ValueError("the whole pipeline runs: no options are taken")
        try:
            local.run(self._recipe, self._root, local.RunOptions(verbose=True))
        except (local.RunFolderError, local.RunLockedError) as error:
            sys.exit(f"error: {error}")


def main() -> None:
    """Runs the recipe that the environment names."""
    recipe = load_recipe(os.environ.get("FIRTH_RECIPE", "demo"))
    root = pathlib.Path(os.environ.get("FIRTH_ROOT", "firth-runs")).resolve()
    RecipeRunner(recipe, root).run(local.create_local_pipeline(recipe, root / recipe.name))


if __name__ == "__main__":
    main()
