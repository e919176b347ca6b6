"""Optimizers that give the same result on any number of replicas."""

import keras

from firth.recipes.training.optimizers import AnyOptimizer
from firth.training.optimizers.adafactor import Adafactor
from firth.training.optimizers.adagrad import Adagrad
from firth.training.optimizers.adamw import AdamW, Lamb
from firth.training.optimizers.muon import Muon, matrices_of
from firth.training.optimizers.schedules import build_schedule
from firth.tuning.rate_multipliers import Multipliers


def build_optimizer(
    config: AnyOptimizer,
    steps: int,
    first: int = 0,
    multipliers: Multipliers | None = None,
    model: keras.Model | None = None,
) -> keras.optimizers.Optimizer:
    """Returns the optimizer of a recipe, for a run of `steps`."""
    matrices = {"matrices": matrices_of(model)} if config.by_matrix and model is not None else {}
    return OPTIMIZERS[config.kind](
        learning_rate=build_schedule(config, steps, first),
        global_clipnorm=config.gradient_clip_norm,
        multipliers=multipliers,
        first=first,
        **matrices,
        **config.own_values,
    )


# By `recipe.training.optimizer.kind`.
OPTIMIZERS = {"adamw": AdamW, "lamb": Lamb, "adafactor": Adafactor, "adagrad": Adagrad, "muon": Muon}
