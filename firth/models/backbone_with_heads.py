"""A backbone with the heads of an objective or a task."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import keras
import numpy.typing as npt

from firth import features as names
from firth.layers.elements.extensible_layer import Addition, Additions
from firth.layers.elements.noise import example_noise
from firth.layers.elements.seeds import plain_seed, seed_generator
from firth.layers.elements.types import Tensor
from firth.models.features_model import FeaturesModel, Specs
from firth.models.missing_features import naming_missing
from firth.models.model_kinds import BACKBONES, HEADS
from firth.models.predictions import EpochMetrics, example_sums, total_loss
from firth.models.projections import Projections
from firth.recipes.base.recipe_type import config_of
from firth.recipes.goals.goal import Goal
from firth.recipes.models.model import AnyModel
from firth.recipes.objectives.objective import AnyObjective
from firth.recipes.tasks.task import Task

# Keywords of Keras for weights, which the features hold.
WEIGHTS = ("sample_weight", "class_weight")


class BackboneWithHeads(FeaturesModel):
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
        self._epoch_metrics: EpochMetrics | None = None
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

    def compile(
        self, optimizer: Any = "rmsprop", loss: Any = None, metrics: Any = None, **kwargs: Any
    ) -> None:
        """Prepares `fit` and `evaluate`, whose metrics are those of `EpochMetrics`.

        Args:
            optimizer: A Keras optimizer, or its name.
            loss: None: the goal is the loss.
            metrics: None: they follow from the goal.
            **kwargs: The other arguments of `keras.Model.compile`, without those of losses and metrics.

        Raises:
            ValueError: for a loss, metrics or weights of them.
        """
        ours = {"loss": loss, "metrics": metrics}
        ours |= {name: kwargs.get(name) for name in ("loss_weights", "weighted_metrics")}
        for name, value in ours.items():
            if value is not None:
                raise ValueError(
                    f"{type(self).__name__}: `{name}` follows from the {self._goal_key}; leave it out. "
                    f"Received: {name}={value!r}"
                )
        if not self.built:
            self.build()
        super().compile(optimizer, **kwargs)
        self._epoch_metrics = EpochMetrics(self._loss_weights)

    def get_compile_config(self) -> dict[str, Any]:
        """Returns the arguments of `compile` for a saved model; empty if it was not compiled."""
        if not self.compiled:
            return {}
        optimizer = keras.saving.serialize_keras_object(self.optimizer)
        return {"optimizer": optimizer, "jit_compile": self.jit_compile, "run_eagerly": self.run_eagerly}

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compiles a loaded model as it was when it was saved.

        Args:
            config: Config that `get_compile_config` returned.
        """
        self.compile(**keras.saving.deserialize_keras_object(config))
        self.optimizer.build(self.trainable_variables)

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

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """Keras's own metrics and, after `compile`, those of the goal."""
        return [*super().metrics, *self.goal_metrics]

    @property
    def goal_metrics(self) -> list[keras.metrics.Metric]:
        """The metrics of the goal; empty before `compile`."""
        return self._epoch_metrics.metrics if self._epoch_metrics else []

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Tensor:
        """Returns the loss of one batch, a float32 scalar; labels and weights are features.

        Args:
            x: Features of the batch; not read.
            y: Targets, which must be None: the features hold them.
            y_pred: Predictions by name of the loss, as the call returns them.
            sample_weight: Weights, which must be None: the features hold them.
            training: Whether it is a training step; not read.

        Raises:
            ValueError: for targets or weights that are not among the features.
        """
        self._refuse({"y": y, "sample_weight": sample_weight}, ("y", "sample_weight"))
        return total_loss(example_sums(y_pred), self._loss_weights)["loss"] + sum(self.losses)

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> dict[str, Any]:
        """Returns the means so far of this epoch; see `EpochMetrics`.

        Args:
            x: Features of the batch; not read.
            y: Targets; not read.
            y_pred: Predictions by name of the loss, as the call returns them.
            sample_weight: Weights; not read.
        """
        self._compiled_metrics().update(y_pred)
        return self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, Any]:
        """Returns the means so far of this epoch."""
        return self._compiled_metrics().results()

    def _compiled_metrics(self) -> EpochMetrics:
        if self._epoch_metrics is None:
            raise ValueError(f"{type(self).__name__}: call `compile` first")
        return self._epoch_metrics

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

    def _refuse(self, arguments: Mapping[str, Any], names: Sequence[str] = WEIGHTS) -> None:
        for name in names:
            if arguments.get(name) is not None:
                kind = type(self).__name__
                raise ValueError(f"{kind}: features hold labels and weights; leave out `{name}`")


@keras.saving.register_keras_serializable(package="firth")
class PretrainingModel(BackboneWithHeads):
    """Features to the predictions of each loss of an objective.

    Args:
        model: The recipe's `model`, or a mapping of its values.
        objective: The recipe's `objective`, or a mapping of its values.
        vocabulary_size: Number of rows of the token embeddings.
        seed: An int, or None; initial weights and dropout follow from it.
        dtype: A Keras dtype or policy. Losses are float32 under each.
        **kwargs: Keywords of `keras.Model`: `name` and `trainable`.

    Raises:
        ValueError: for a value of `model` or `objective` that does not fit, with the nearest valid name.

    Example: see `build_pretraining_model`.
    """

    name_in_paths = "pretraining_model"
    _goal_key = "objective"

    def __init__(
        self,
        model: AnyModel | Mapping[str, Any],
        objective: AnyObjective | Mapping[str, Any],
        vocabulary_size: int,
        seed: int | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        shape = config_of("model", AnyModel, model)
        goal = config_of("objective", AnyObjective, objective)
        super().__init__(shape, goal, vocabulary_size, seed, dtype, **kwargs)


class TaskModel(BackboneWithHeads):
    """Features to the predictions of each loss of a task.

    `firth.models.save_model` keeps it with its recipe; Keras's own `save` cannot, for it knows no task.

    Args:
        model: The recipe's `model`, or a mapping of its values.
        task: The recipe's `task`.
        vocabulary_size: Number of rows of the token embeddings.
        seed: An int, or None; initial weights and dropout follow from it.
        dtype: A Keras dtype or policy. Losses are float32 under each.
        **kwargs: Keywords of `keras.Model`: `name` and `trainable`.

    Raises:
        ValueError: for a value of `model` that does not fit, with the nearest valid name.

    Example: see `build_model`.
    """

    name_in_paths = "task_model"
    _goal_key = "task"

    def __init__(
        self,
        model: AnyModel | Mapping[str, Any],
        task: Task,
        vocabulary_size: int,
        seed: int | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(config_of("model", AnyModel, model), task, vocabulary_size, seed, dtype, **kwargs)
