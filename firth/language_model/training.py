"""Training of a recipe on rows, in this process, to a language model."""

import os
import warnings

import keras

from firth.language_model.model import LanguageModel
from firth.language_model.progress import progress_bar
from firth.language_model.rows import RowFiles
from firth.recipes.run.run_recipe import RunRecipe
from firth.tokenizers import load_tokenizer
from firth.training.history import read_history
from firth.training.pretraining import train
from firth.training.run_fn import finished, with_steps
from firth.training.termination import TrainingInterrupted


def train_in_process(
    recipe: RunRecipe, files: RowFiles, folder: str, verbose: bool, merge: bool = True
) -> LanguageModel:
    """Trains a recipe's model, and returns it with its tokenizer.

    Args:
        recipe: Recipe of the run.
        files: Rows.
        folder: Folder of the checkpoints and of the curve.
        verbose: True to show a progress bar.
        merge: True to make what a method added a part of the weights.
    """
    checkpoints = os.path.join(folder, "checkpoints")
    recipe = with_steps(recipe, files.train, checkpoints)
    run = os.path.join(folder, "run")
    with progress_bar(verbose):
        try:
            network = train(recipe, files.train, files.tokenizer, run, checkpoints, files.eval)
        except TrainingInterrupted as stopped:
            if stopped.model is None:
                raise KeyboardInterrupt from None
            warnings.warn(
                f"interrupted after step {stopped.step:,} of {recipe.training.steps:,}: the model has the "
                "weights of that step",
                stacklevel=3,
            )
            network = stopped.model
    tokenizer = load_tokenizer(files.tokenizer)
    recipe = finished(network, tokenizer, recipe, files.eval, merges=merge)
    model = LanguageModel(recipe, tokenizer, network)
    model.history = _history(run)
    return model


def _history(folder: str) -> keras.callbacks.History:
    """Returns the curve of a run as Keras's `fit` does; `epoch` has the steps."""
    lines = read_history(folder)
    history = keras.callbacks.History()
    history.epoch = [line["step"] for line in lines]
    names = dict.fromkeys(name for line in lines for name, value in line.items() if isinstance(value, float))
    history.history = {name: [line.get(name) for line in lines] for name in names}
    return history
