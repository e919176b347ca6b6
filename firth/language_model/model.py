"""The language model: a Keras model with its tokenizer and its recipe inside."""

import importlib.util
import os
import pathlib
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

import keras

from firth import storage
from firth.language_model.adapting import AdaptableModel
from firth.language_model.fitting import evaluate_data, fit_data, has_features
from firth.language_model.named_inputs import named_inputs
from firth.language_model.types import (
    Answer,
    Config,
    DType,
    Features,
    Labels,
    Logits,
    Losses,
    Path,
    Rows,
    Tensor,
    TrainingData,
)
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.backbones.backbone import Backbone
from firth.models.builders import build_model
from firth.models.features_model import MissingFeatureError, Specs
from firth.models.goal_training import GoalTraining
from firth.models.predictions import Predictions
from firth.recipes.run.kinds import run_recipe_from_json
from firth.recipes.run.run_recipe import RunRecipe

if TYPE_CHECKING:
    from firth.tokenizers.storage import AnyTokenizer

_TOKENIZER = "tokenizer"
_RECIPES = "auto"


@keras.saving.register_keras_serializable(package="firth")
class LanguageModel(GoalTraining, AdaptableModel):
    """A Keras model of a backbone and its heads, with its tokenizer and its recipe.

    `firth.load` opens one, `firth.create` and `firth.pretrain` make one, `finetune` adapts it. Texts go in as
    they are: `fill_mask`, `embed`, `score`, `generate` and `predict` answer them, each with the graph that
    `export` writes. Keras's own `compile`, `fit`, `evaluate` and `predict` take texts or batches of features.

    Its parts are attributes: `backbone`; `network`, backbone and heads, a `firth.models.PretrainingModel` or
    `TaskModel`; `preprocessor`, which makes features of texts, or None; `tokenizer`; `recipe`.

    Args:
        recipe: Recipe of the model.
        tokenizer: Its tokenizer; None for a model of features alone.
        network: Model that `firth.models.build_model` made of the recipe; made here if it is not given.
        dtype: A Keras dtype or policy, as for `firth.models.build_model`.
        **kwargs: Keywords of `keras.Model`: `name` and `trainable`.

    Example:

        model = firth.load("firth-runs/demo")
        model.fill_mask("Return the [MASK] of the array.")
        model.embed(["A sentence.", "Another one."])    # float32 [2, width]
    """

    def __init__(
        self,
        recipe: RunRecipe,
        tokenizer: "AnyTokenizer | None" = None,
        network: BackboneWithHeads | None = None,
        dtype: DType = None,
        **kwargs: object,
    ) -> None:
        network = build_model(recipe, dtype) if network is None else network
        super().__init__(dtype=network.dtype_policy, **kwargs)
        self.recipe = recipe
        self.network = network
        self._loss_weights = recipe.goal.losses
        self.preprocessor = None
        if tokenizer is not None:
            self._set_tokenizer(tokenizer)
        self.built = True

    @property
    def backbone(self) -> Backbone:
        """The part of the model from features to hidden states, float [batch, length, width]."""
        backbone: Backbone = self.network.backbone
        return backbone

    @property
    def feature_specs(self) -> Specs:
        """Features that the backbone reads."""
        return self.network.feature_specs

    def call(self, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the predictions of each loss, or its logits if the features hold no labels.

        Args:
            features: Features by name, batched.
            training: Whether dropout acts.
        """
        try:
            return self.network(features, training=training)
        except MissingFeatureError:
            return self.network.logits(features, training=training)

    def compile(
        self,
        optimizer: str | keras.optimizers.Optimizer = _RECIPES,
        loss: None = None,
        metrics: None = None,
        **kwargs: object,
    ) -> None:
        """Prepares `fit` and `evaluate`; the loss and its metrics follow from the recipe's goal.

        Args:
            optimizer: A Keras optimizer, or its name; `auto` is AdamW at the recipe's
                `training.optimizer.learning_rate`.
            loss: None: the goal is the loss.
            metrics: None: they follow from the goal.
            **kwargs: The other arguments of `keras.Model.compile`, without those of losses and metrics.

        Raises:
            ValueError: for a loss or metrics, and for a sampler, which `generate` takes.
        """
        if "sampler" in kwargs:
            raise ValueError("sampler: generate takes it, as in generate(prompt, top_k=5, temperature=0.8)")
        # LoRA of `backbone.enable_lora` is not in graphs that were made before.
        self.forget_graphs()
        if optimizer == _RECIPES:
            optimizer = keras.optimizers.AdamW(self.recipe.training.optimizer.learning_rate)
        super().compile(optimizer, loss, metrics, **kwargs)

    def fit(
        self, x: TrainingData | None = None, y: Labels | None = None, **kwargs: object
    ) -> keras.callbacks.History:
        """Trains as `keras.Model.fit` does, on texts or on batches of features.

        A model that was not compiled is compiled first, as `compile()` does it.

        Args:
            x: Texts (for a task their records, or texts with labels `y`), or batches of features.
            y: Labels of the texts.
            **kwargs: Keywords of `keras.Model.fit`; `validation_data` takes what `x` does.
        """
        given = fit_data(self, x, y, kwargs)
        if not self.compiled:
            self.compile()
        return super().fit(**given)

    def evaluate(self, x: TrainingData | None = None, y: Labels | None = None, **kwargs: object) -> Losses:
        """Returns the means over the data, floats, as `keras.Model.evaluate` does.

        A model that was not compiled is compiled first, as `compile()` does it.

        Args:
            x: Texts, records, or batches of features.
            y: Labels of the texts.
            **kwargs: Keywords of `keras.Model.evaluate`.
        """
        if not self.compiled:
            self.compile()
        found: Losses = keras.tree.map_structure(float, super().evaluate(**evaluate_data(self, x, y, kwargs)))
        return found

    @overload
    def predict(self, x: str, **kwargs: object) -> Answer: ...  # type: ignore[overload-overlap]
    @overload
    def predict(self, x: Features, **kwargs: object) -> Logits: ...  # type: ignore[overload-overlap]
    @overload
    def predict(self, x: Rows, **kwargs: object) -> list[Answer]: ...
    @overload
    def predict(self, x: None = None, **kwargs: object) -> Answer | list[Answer]: ...
    def predict(
        self, x: str | Features | Rows | None = None, **kwargs: object
    ) -> Answer | Logits | list[Answer]:
        """Returns the answers to texts, or the logits of each loss of features.

        Args:
            x: A text, a list of texts or of pairs, or records as dicts by the texts of the model's task
                (`question` and `context`), by the columns that it was trained on, or by the inputs of its
                signature (`text`, `pair`); one record for one answer. Or batches of features as
                `keras.Model.predict` takes them.
            **kwargs: Further texts by the same names, such as `pair` or `context`; of features, keywords of
                `keras.Model.predict`.

        Returns:
            For each text a dict, such as `{"label": "good", "probability": 0.9, ...}`; of features, the
            logits of each loss by its name.

        Raises:
            TypeError: for a value that is not a text.
            ValueError: if there is no text, or an input is missing.

        Example:

            stars.predict(["A film to see twice."])[0]["label"]
            reader.predict(question="Who wrote it?", context="A film of Agnes Varda.")["answer"]
        """
        if x is not None and has_features(x):
            return self.network.predict(x, **kwargs)
        found, is_one = named_inputs(self, x, kwargs)
        given = dict[str, Any](self.first_input(self.signatures[0], found))
        answers = self.ask(self.signatures[0], **given)
        return answers[0] if is_one else answers

    def summary(self, *args: object, expand_nested: bool = True, **kwargs: object) -> None:
        """Prints the layers of the model, as `keras.Model.summary` does.

        Args:
            *args: Arguments of `keras.Model.summary`.
            expand_nested: False for the model as one layer.
            **kwargs: Keywords of `keras.Model.summary`.
        """
        super().summary(*args, expand_nested=expand_nested, **kwargs)

    def compute_loss(
        self,
        x: Features | None = None,
        y: Labels | None = None,
        y_pred: Mapping[str, Predictions] | None = None,
        sample_weight: Tensor | None = None,
        training: bool = True,
    ) -> Tensor:
        """Returns the loss of one batch, a float32 scalar; labels and weights are features.

        Args:
            x: Features of the batch.
            y: None: the features hold the targets.
            y_pred: Predictions by name of the loss, as the call returns them.
            sample_weight: None: the features hold the weights.
            training: Whether it is a training step.

        Raises:
            MissingFeatureError: for features without labels, as `preprocessor` makes them.
            ValueError: for targets or weights that are not among the features.
        """
        if not all(isinstance(each, Predictions) for each in (y_pred or {}).values()):
            raise MissingFeatureError(
                f"{self.name}: the features have no labels; fit and evaluate make those of texts"
            )
        return super().compute_loss(x, y, y_pred, sample_weight, training)

    def get_config(self) -> Config:
        """The recipe as JSON, and the dtype; the tokenizer is saved as assets."""
        return {**keras.layers.Layer.get_config(self), "recipe": self.recipe.to_json()}

    @classmethod
    def from_config(cls, config: Config, custom_objects: Mapping[str, type] | None = None) -> "LanguageModel":
        """Returns the model of a config, without its tokenizer.

        Args:
            config: Config that `get_config` returned.
            custom_objects: Classes by name; not read.
        """
        given = dict[str, Any](config)
        recipe = run_recipe_from_json(given["recipe"])
        kept = {name: given[name] for name in ("name", "trainable") if name in given}
        policy = keras.saving.deserialize_keras_object(given["dtype"])
        return cls(recipe, dtype=policy, **kept)

    def save_assets(self, inner_path: str) -> None:
        """Writes the tokenizer into a `.keras` file.

        Args:
            inner_path: Folder of the file's assets.
        """
        if self.preprocessor is not None:
            from firth.tokenizers import save_tokenizer

            save_tokenizer(self.preprocessor.tokenizer, os.path.join(inner_path, _TOKENIZER))

    def load_assets(self, inner_path: str) -> None:
        """Reads the tokenizer from a `.keras` file.

        Args:
            inner_path: Folder of the file's assets.
        """
        folder = os.path.join(inner_path, _TOKENIZER)
        if storage.is_folder(folder):
            if importlib.util.find_spec("tensorflow") is None:
                warnings.warn("without TensorFlow the model reads features, and no texts", stacklevel=2)
                return
            from firth.tokenizers import load_tokenizer

            self._set_tokenizer(load_tokenizer(folder))

    def _set_tokenizer(self, tokenizer: "AnyTokenizer") -> None:
        from firth.language_model.preprocessor import Preprocessor

        self.preprocessor = Preprocessor(tokenizer, self.recipe)

    def save(self, filepath: Path, *args: object, **kwargs: object) -> None:
        """Writes the model: a bundle, which `firth.load` opens, or Keras's own file for a name in `.keras`.

        Args:
            filepath: Folder of the bundle, which must not exist, or a path that ends in `.keras`.
            *args: Arguments of `keras.Model.save`, for its own file.
            **kwargs: Keywords of `keras.Model.save`, for its own file.

        Raises:
            FileExistsError: if there is a bundle already.
            ValueError: if the model has additions that were not merged, or no tokenizer, for a bundle.
        """
        from firth.language_model.opening import check_merged, write_bundle_of

        if pathlib.PurePath(filepath).suffix in (".keras", ".h5"):
            check_merged(self)
            super().save(filepath, *args, **kwargs)
        else:
            write_bundle_of(self, filepath)

    def export(self, filepath: Path, format: str = "saved_model", **kwargs: object) -> None:
        """Writes the model for use without firth: by default the SavedModel that a pipeline serves.

        Args:
            filepath: Folder, which must not exist.
            format: `saved_model`, which answers raw strings; a format of `firth export`, such as `hf`,
                `keras` or `onnx`; or one of Keras, such as `tf_saved_model`, for logits of features.
            **kwargs: Options of the format.

        Raises:
            FileExistsError: if the folder holds something.
            ValueError: for an unknown format, with the nearest.
        """
        from firth.language_model.exporting import export_model

        export_model(self, filepath, format, kwargs)
