"""`firth train-worker`: one process of a training that several processes make together."""

import logging
import os
import pathlib
import types
from typing import Annotated

import typer

from firth.cli import commands
from firth.cli.commands import recipe_or_exit
from firth.cli.output import ExitCode, fail, print_error

Rows = Annotated[
    str,
    typer.Option(
        "--rows", help="Folder of the rows that SequenceGen made, with their tokenizer.", show_default=False
    ),
]
Output = Annotated[
    str, typer.Option("--output", help="Folder for the model and the curve.", show_default=False)
]
CheckpointRoot = Annotated[
    str,
    typer.Option(
        "--checkpoints", help="Folder of the checkpoints, the same for all processes.", show_default=False
    ),
]


def _train_worker(
    recipe: commands.RecipeName,
    rows: Rows,
    output: Output,
    checkpoints: CheckpointRoot,
    overrides: commands.Overrides = None,
) -> None:
    """Trains as one of the processes that TF_CONFIG lists; start this command for each.

    Each needs the recipe, the rows and the folder of checkpoints in the same place. The first one writes the
    model.
    """
    checked = recipe_or_exit(recipe, overrides or ())
    logging.basicConfig(format="%(message)s")
    logging.getLogger("firth").setLevel(logging.INFO)
    from firth.pipelines.run_errors import full_disk
    from firth.training import (
        ClusterError,
        DeviceError,
        JaxTrainingError,
        NonFiniteLossError,
        WorkerLostError,
    )
    from firth.training.run_fn import run_fn

    arguments = types.SimpleNamespace(
        train_files=[os.path.join(rows, "Split-train", "*")],
        eval_files=[os.path.join(rows, "Split-eval", "*")],
        serving_model_dir=os.path.join(output, "Format-Serving"),
        model_run_dir=os.path.join(output, "model_run"),
        custom_config={"recipe": checked.to_json(), "checkpoint_root": checkpoints},
    )
    try:
        run_fn(arguments)
    except (
        ClusterError,
        DeviceError,
        JaxTrainingError,
        NonFiniteLossError,
        WorkerLostError,
        ValueError,
    ) as error:
        fail(str(error))
    except KeyboardInterrupt as interrupted:
        print_error(str(interrupted) or "interrupted")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except Exception as error:
        # TensorFlow reports a full disk in words of its own while it writes a checkpoint.
        if problem := full_disk(error, pathlib.Path(checkpoints)):
            fail(problem)
        raise


register = commands.registrar(
    "train-worker",
    _train_worker,
    "firth train-worker my_recipe.yaml --rows gs://b/rows --output gs://b/model --checkpoints gs://b/saved",
    after=(
        "Exit codes: 0 the model is written; 1 it failed, or another process was lost: start all again, and "
        "they resume at the last checkpoint; 2 wrong usage or recipe; 130 interrupted, and 143 "
        "ended by SIGTERM, with all saved."
    ),
)
