"""A backbone with the heads of an objective or a task."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import keras
import numpy.typing as npt

from firth import features as names
from firth.layers.elements.extensible_layer import Addition, Additions
from firth.layers.elements.noise import example_noise
from firth.layers.elements.seeds import plain_seed, seed_generator
from firth.layers.elements.types import Tensor
from firth.models.features_model import FeaturesModel, Specs
from firth.models.goal_training import GoalTraining
from firth.models.missing_features import naming_missing
from firth.models.model_kinds import BACKBONES, HEADS
from firth.models.projections import Projections
from firth.recipes.goals.goal import Goal
from firth.recipes.models.model import AnyModel


class BackboneWithHeads(GoalTraining, FeaturesModel):
    """Features to the predictions of each loss of a goal: of an objective, or of a task.

    Keras's own `compile`, `fit` and `evaluate` work on it: `compile` takes an optimizer and no loss, for the
    goal is the loss, and data are batches of features, which hold labels and weights. `firth.training` has a
    loop of its own, which also resumes exactly. `predict` gives the logits of each loss by its name, as
    `logits` does, and so does what `export` writes; both need no labels.

    Its parts are attributes: `backbone`; `heads`, of a class that `HEADS` names for the goal; `added`, which
    holds the additions of a method of `firth.tuning`, at first none; and `projections` of a text's vector,
    which only imported sentence encoders have.

    Args:
        model: The recipe's `model`.
        goal: The recipe's `goal`.
        vocabulary_size: Number of rows of the token embeddings.
        seed: An int, or None; initial weights and dropout follow from it.
        dtype: A Keras dtype or policy. Losses are float32 under each.
        **kwargs: Keywords of `keras.Model`: `name` and `trainable`.

    Example: see `build_pretraining_model`.
    """

    # First part of the paths of weights; names of an optimizer's variables hold it.
    name_in_paths: ClassVar[str]
    # Name of the goal in a config, and in errors.
    _goal_key: ClassVar[str]
    _gives_logits: bool = False

    def __init__(
        self,
        model: AnyModel,
        goal: Goal,
        vocabulary_size: int,
        seed: int | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self._config = {
            "model": model.model_dump(mode="json"),
            self._goal_key: goal.model_dump(mode="json"),
            "vocabulary_size": vocabulary_size,
            "seed": plain_seed(seed),
        }
        self._loss_weights = goal.losses
        shared = {"seed": seed_generator(seed), "dtype": self.dtype_policy}
        self.backbone = BACKBONES[model.kind](vocabulary_size, model, **shared, name="backbone")
        self.heads = HEADS[goal.heads_key](model, goal, vocabulary_size, **shared, name="heads")
        self.added = Additions(name="added")
        self.projections: Projections | None = None

    @property
    def additions(self) -> list[Addition]:
        """Additions of a method, in `added`, and of `backbone.enable_lora`; empty after they were merged."""
        return [*self.added.held, *self.backbone.added.held]

    @property
    def seed_generator(self) -> keras.random.SeedGenerator:
        """Generator of a batch's draws; its `state`, int [2], is (seed, draws so far)."""
        return self.backbone.seed_generator

    def build(self, features_shape: Any = None) -> None:
        """Creates all weights; they depend on no input shape.

        Args:
            features_shape: Shapes of the features; not read.
        """
        self.backbone.build()
        self.heads.build()
        if self.projections is not None:
            self.projections.build()
        self._all_are_built()

    def complete(self, features: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Returns features with those that follow from the tokens, where they are left out.

        They are those of `FeaturesModel.complete` and, for a task with one text a record, `pooled_positions`,
        the place that the answer for the first document of each row is read at.

        Args:
            features: Features by their names, at least `token_ids`, int [batch, length], or `characters`.

        Raises:
            MissingFeatureError: as `FeaturesModel.complete` does.
            ValueError: as `FeaturesModel.complete` does.
        """
        return self.heads.complete(super().complete(features))

    @property
    def feature_specs(self) -> Specs:
        """Features that the backbone reads; losses also need labels and weights, and logits do not."""
        return self.backbone.feature_specs

    def call(self, features: Mapping[str, Tensor], training: bool | None = None) -> dict[str, Any]:
        """Returns the predictions of each loss, by its name, as `Predictions`; in `predict` their logits.

        Args:
            features: Features as the `specs` of the objective or task, batched. With
                `firth.features.NOISE_KEYS` among them, the draws for an example follow from its key,
                whichever batch it is in.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        if self._gives_logits:
            return self.logits(features, training)
        with self._reading(features):
            return self.heads.predictions(self.backbone, features, training=training)

    @contextlib.contextmanager
    def _reading(self, features: Mapping[str, Tensor]) -> Iterator[None]:
        noise = example_noise(features.get(names.NOISE_KEYS))
        with naming_missing(type(self).__name__, features), noise:
            yield

    def logits(self, features: Mapping[str, Tensor], training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of each loss, by its name; the features need no labels.

        Args:
            features: Features as in the call, or those that the backbone reads, at least `token_ids` or
                `characters`; see `complete`. Without `masked_positions` every position is predicted.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.

        Returns:
            float32 [batch, predictions or length, classes] each. A loss is the cross-entropy of its logits.
        """
        if not self.built:
            self.build()
        features = self.complete(features)
        with self._reading(features):
            return self.heads.logits(self.backbone, features, training)

    @contextlib.contextmanager
    def _giving_logits(self) -> Iterator[None]:
        """Lets a call return logits: functions that Keras compiles inside do so from then on."""
        object.__setattr__(self, "_gives_logits", True)
        try:
            yield
        finally:
            object.__setattr__(self, "_gives_logits", False)

    def predict(self, *args: Any, **kwargs: Any) -> dict[str, npt.NDArray[Any]]:
        """Returns the logits of each loss, by its name, of all batches; see `logits`.

        Args:
            *args: Arguments of `keras.Model.predict`: batches of features first.
            **kwargs: Keywords of `keras.Model.predict`.
        """
        with self._giving_logits():
            made: dict[str, npt.NDArray[Any]] = super().predict(*args, **kwargs)
        return made

    def predict_on_batch(self, x: Any) -> dict[str, npt.NDArray[Any]]:
        """Returns the logits of each loss, by its name, of one batch.

        Args:
            x: Features of the batch.
        """
        with self._giving_logits():
            made: dict[str, npt.NDArray[Any]] = super().predict_on_batch(x)
        return made

    def export(self, *args: Any, **kwargs: Any) -> None:
        """Writes the model for inference, which gives the logits of each loss; see `FeaturesModel.export`.

        Args:
            *args: Arguments of `FeaturesModel.export`.
            **kwargs: Keywords of `FeaturesModel.export`.
        """
        with self._giving_logits():
            super().export(*args, **kwargs)

    def fit(self, *args: Any, **kwargs: Any) -> keras.callbacks.History:
        """Trains as `keras.Model.fit` does; see there for the arguments and the history that is returned.

        Args:
            *args: Arguments of `keras.Model.fit`: batches of features first.
            **kwargs: Keywords of `keras.Model.fit`, without weights of samples and of classes.

        Raises:
            ValueError: for weights of samples or of classes.
        """
        self._refuse(kwargs)
        return super().fit(*args, **kwargs)

    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the means over the data, floats; see `keras.Model.evaluate` for the arguments.

        Args:
            *args: Arguments of `keras.Model.evaluate`: batches of features first.
            **kwargs: Keywords of `keras.Model.evaluate`, without weights of samples.

        Raises:
            ValueError: for weights of samples.
        """
        self._refuse(kwargs)
        return keras.tree.map_structure(float, super().evaluate(*args, **kwargs))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        lora = {"lora": self.backbone.lora} if self.backbone.lora else {}
        return {**keras.layers.Layer.get_config(self), **self._config, **lora}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Returns the model of a config, with LoRA if its backbone had some.

        Args:
            config: Config that `get_config` returned.
            custom_objects: Classes by name, as in `keras.Model.from_config`.
        """
        own = {key: value for key, value in config.items() if key != "lora"}
        model = super().from_config(own, custom_objects)
        if "lora" in config:
            model.build()
            model.backbone.enable_lora(**config["lora"])
        return model
