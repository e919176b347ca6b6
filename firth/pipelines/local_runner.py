"""The pipeline file for TFX's own command line, on one machine.

    FIRTH_RECIPE=bert_mini tfx pipeline create --engine=local --pipeline_path=firth/pipelines/local_runner.py
    FIRTH_RECIPE=bert_mini tfx run create --engine=local --pipeline_name=bert_mini

`FIRTH_RECIPE` is a preset's name or a recipe's path (`demo` where it is not set), `FIRTH_ROOT` the folder
of all runs. `firth run` does the same with a progress display, a log and a lock.
"""

import os
import pathlib

from tfx.orchestration.local.local_dag_runner import LocalDagRunner

from firth.pipelines.local import create_local_pipeline
from firth.recipes.reading.loading import load_recipe


def main() -> None:
    """Runs the recipe that the environment names."""
    recipe = load_recipe(os.environ.get("FIRTH_RECIPE", "demo"))
    run_dir = pathlib.Path(os.environ.get("FIRTH_ROOT", "firth-runs")).resolve() / recipe.name
    run_dir.mkdir(parents=True, exist_ok=True)
    LocalDagRunner().run(create_local_pipeline(recipe, run_dir))


if __name__ == "__main__":
    main()
