"""The command that shows a run's curves in TensorBoard."""

import shlex


def tensorboard_command(folder: str) -> str:
    """Returns the command that shows the curves in a folder, to be pasted as it is.

    Example:

    >>> tensorboard_command("my runs/demo/pipeline/Trainer/model_run/7")
    "tensorboard --logdir 'my runs/demo/pipeline/Trainer/model_run/7'"
    """
    return f"tensorboard --logdir {shlex.quote(folder)}"
