"""A backbone with the heads of its pre-training objective."""

import keras

from firth import features as names
from firth.layers.noise import example_noise
from firth.layers.parts import check_part
from firth.layers.seeds import plain_seed, seed_generator
from firth.models.predictions import Predictions
from firth.models.tables import BACKBONES, HEADS
from firth.recipes.model import AnyModel
from firth.recipes.objective import AnyObjective


@keras.saving.register_keras_serializable(package="firth")
class PretrainingModel(keras.Model):
    """Features to the predictions of each loss of an objective.

    Its parts are attributes: `backbone`, and `heads`, of a class that `HEADS` names for the objective.

    Args:
        model: The recipe's `model`, as a dict.
        objective: The recipe's `objective`, as a dict.
        vocabulary_size: Rows of the token embeddings.
        seed: An int, or None; initial weights and dropout follow from it.
        dtype: A Keras dtype or policy. Losses are float32 under each.

    Call arguments:
        features: As the objective's `specs`, batched. With `firth.features.NOISE_KEYS` among them, what is
            drawn for an example follows from its key, whichever batch it stands in.
        training: Whether dropout acts.

    Raises:
        ValueError: for a key or a `kind` that no recipe has, naming the nearest one, and as the parts do.

    Example: see `build_pretraining_model`.
    """

    def __init__(self, model, objective, vocabulary_size, seed=None, dtype=None, **kwargs):
        super().__init__(dtype=dtype, **kwargs)
        check_part("PretrainingModel", "model", model, AnyModel)
        check_part("PretrainingModel", "objective", objective, AnyObjective)
        self._config = {
            "model": dict(model),
            "objective": dict(objective),
            "vocabulary_size": vocabulary_size,
            "seed": plain_seed(seed),
        }
        shared = {"seed": seed_generator(seed), "dtype": self.dtype_policy}
        shape = {key: value for key, value in model.items() if key != "kind"}
        self.backbone = BACKBONES[model["kind"]](vocabulary_size, **shape, **shared, name="backbone")
        self.heads = HEADS[objective["kind"]](model, objective, vocabulary_size, **shared, name="heads")

    @property
    def seed_generator(self) -> keras.random.SeedGenerator:
        """What a batch's draws come from; its `state`, int [2], is (seed, draws so far)."""
        return self.backbone.seed_generator

    def build(self, features_shape=None):
        """Creates all weights; they depend on no input shape."""
        self.backbone.build()
        self.heads.build()

    def call(self, features, training=None) -> dict[str, Predictions]:
        """Returns the predictions of each loss, by its name."""
        with example_noise(features.get(names.NOISE_KEYS)):
            return self.heads.predictions(self.backbone, features, training=training)

    def get_config(self):
        """The constructor's arguments."""
        return {**keras.layers.Layer.get_config(self), **self._config}
