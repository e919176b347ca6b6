"""Training of a recipe on rows, in this process, to a language model."""

import os
import warnings

from firth.language_model.model import LanguageModel
from firth.language_model.progress import progress_bar
from firth.language_model.rows import RowFiles
from firth.recipes.run.run_recipe import RunRecipe
from firth.tokenizers import load_tokenizer
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
    with progress_bar(verbose):
        try:
            network = train(
                recipe, files.train, files.tokenizer, os.path.join(folder, "run"), checkpoints, files.eval
            )
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
    return LanguageModel(recipe, tokenizer, network)
