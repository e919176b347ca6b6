"""The entry point of the standard TFX Tuner, which loads this module anew."""

import functools
import hashlib
import os
from typing import Any, NamedTuple

from firth.recipes.run.kinds import run_recipe_from_json
from firth.training.pretraining import open_rows
from firth.training.run_fn import find_tokenizer, with_base, with_steps
from firth.training.search.trials import RecipeTuner
from firth.training.strategies import prepare_devices

# Digits of the name of a search's folder.
_DIGITS = 24


class TunerFnResult(NamedTuple):
    """The result of `tuner_fn`; TFX's own type of the same fields needs TFX.

    Attributes:
        tuner: The search.
        fit_kwargs: Keywords of each trial: none.
    """

    tuner: RecipeTuner
    fit_kwargs: dict[str, Any]


def tuner_fn(fn_args: Any) -> TunerFnResult:
    """Returns the search that a recipe describes.

    The Tuner takes its name, `firth.training.search.tuner_fn.tuner_fn`.
    """
    config = fn_args.custom_config
    recipe = with_base(run_recipe_from_json(config["recipe"]), fn_args.base_model)
    prepare_devices(recipe.training)
    root = config["checkpoint_root"]
    rows = open_rows(recipe, fn_args.train_files, root)
    key = hashlib.sha256(f"{recipe.to_json()}{rows.digest}".encode()).hexdigest()[:_DIGITS]
    places = {
        "train_files": fn_args.train_files,
        "tokenizer_directory": find_tokenizer(fn_args.train_files),
        "eval_files": fn_args.eval_files,
    }
    schedule = functools.partial(with_steps, train_files=fn_args.train_files, checkpoint_root=root)
    return TunerFnResult(RecipeTuner(recipe, places, os.path.join(root, "search", key), schedule), {})
