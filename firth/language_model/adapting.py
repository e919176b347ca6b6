"""Adapting of a language model: fine-tuning, and adapters that are added, merged, saved and loaded."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firth import storage
from firth.language_model.answers import TextAnswers
from firth.language_model.other_names import own_keywords
from firth.language_model.types import LabelledRecords, Method, Overrides, Path
from firth.models.backbones.backbone import Backbone, CarriedState
from firth.models.bundle import load_model
from firth.recipes.base.errors import suggest
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tuning.method import Method as MethodRecipe
from firth.recipes.tuning.methods import method_types
from firth.tuning import (
    METHODS,
    load_adapter,
    load_additions,
    merge,
    method_of_additions,
    save_adapter,
    save_additions,
)

if TYPE_CHECKING:
    from firth.language_model.model import LanguageModel

_HEAD = "head"
_PEFT_CONFIG = "adapter_config.json"


class AdaptableModel(TextAnswers):
    """Base of a model that is adapted to a task."""

    # Method by which `add_adapter` added something.
    _added_by: MethodRecipe | None = None

    @own_keywords
    def finetune(
        self,
        train: LabelledRecords,
        eval: LabelledRecords | None = None,
        task: str = "classification",
        text: str | None = None,
        pair: str | None = None,
        negative: str | None = None,
        question: str | None = None,
        choices: Sequence[str] = (),
        label: str | None = None,
        method: Method | None = None,
        epochs: float | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        seed: int | None = None,
        overrides: Overrides = (),
        folder: Path | None = None,
        merge: bool = True,
        verbose: bool = True,
    ) -> "LanguageModel":
        """Returns a model that is trained for a task on labelled records, in this process and without TFX.

        Its weights are those that the pipeline of the same recipe trains. This model does not change. Of a
        model whose `backbone.trainable` is False, the heads alone are trained.

        Args:
            train: Records to train on: a path (csv, tsv, jsonl, json), a list of dicts or of (text, label), a
                DataFrame, a `datasets.Dataset`, or a `tf.data.Dataset`.
            eval: Records to evaluate on, likewise; None holds out a tenth of those to train on.
            task: Kind of the task, such as `classification`, `regression`, `tagging` or `text_to_text`.
            text: Column of the text; if it is not given, the task's name for it, such as `text`.
            pair: Column of the second text.
            negative: Column of a text that does not belong to the first (embedding).
            question: Column of the question (choice).
            choices: Columns of the choices, or one column of lists (choice).
            label: Column of the label; if it is not given `label`, of tagging `tags`, of span `answers`.
            method: Parts that are trained or added: `full`, `head`, `lora` and others, or a mapping with its
                values, such as `{"kind": "lora", "rank": 4}`.
            epochs: Number of times that each record is trained on; 3 if it is not given.
            learning_rate: Highest rate of the optimizer; if it is not given, that of the method.
            batch_size: Records of a step, on average; 32 if it is not given.
            seed: Seed of the head, of the order and of dropout.
            overrides: Further values of the recipe by key, such as
                `{"training.optimizer.learning_rate": 1e-4}`.
            folder: Folder for rows and checkpoints, in which the same call resumes; None for a temporary one.
            merge: True to make what a method such as LoRA added a part of the weights.
            verbose: True to show a progress bar.

        Returns:
            The trained model. After Ctrl-C it is the model as it was after the last step.

        Raises:
            firth.recipes.RecipeError: for an unknown task, method or key, with the nearest. It is a
                ValueError.
            TypeError: for a record that is not a dict.
            ValueError: if there is no record, no such column, or a label is missing; for a method that trains
                layers whose `trainable` is False.

        Example:

            stars = model.finetune(train="reviews.csv", text="review", label="stars", epochs=3)
            stars.predict(["A film to see twice."])
        """
        from firth.language_model.opening import need_tensorflow

        need_tensorflow("finetune")
        from firth.language_model.training import TaskRecords, finetune

        texts = {"text": text, "pair": pair, "negative": negative, "question": question, "choices": choices}
        method = _method_for(self.backbone, method)
        values = {
            "method" if isinstance(method, Mapping) else "method.kind": method,
            "epochs": epochs,
            "training.optimizer.learning_rate": learning_rate,
            "examples_per_step": batch_size,
            "seed": seed,
        }
        records = TaskRecords(train, eval, task, {role: each or None for role, each in texts.items()}, label)
        return finetune(self, records, values, overrides, folder, merge, verbose)

    def add_adapter(self, method: str = "lora", **values: object) -> None:
        """Adds trained parts to the model, and freezes all else of its backbone.

        Args:
            method: Kind of the method, such as `lora`, `ia3` or `prefix_tuning`.
            **values: Values of the method as in a recipe, such as `rank=8`.

        Raises:
            TuningError: if the method does not fit the model.
            ValueError: for an unknown method or value, with the nearest.

        Example:

        >>> import firth
        >>> model = firth.create("bert_tiny", overrides={"tokenizer.vocabulary_size": 100})
        >>> model.add_adapter("lora", rank=2)
        >>> len(model.trainable_weights) < len(model.weights)
        True
        """
        types: dict[str, Any] = dict(method_types())
        if method not in types or not types[method].adds:
            kinds = [kind for kind, each in types.items() if each.adds]
            raise ValueError(f"method: {method!r} adds nothing to a model; {suggest(method, kinds)}")
        chosen = types[method].of({"kind": method, **values})
        METHODS[method](self.network, chosen, 1)
        if isinstance(self.recipe, AdaptingRecipe):
            self.recipe = self.recipe.model_copy(update={"method": chosen})
        self._added_by = chosen
        self.forget_graphs()

    def merge(self) -> None:
        """Makes what a method such as LoRA added a part of the weights.

        Raises:
            TuningError: for additions of a method that does not merge.
        """
        merge(self.network)
        self.forget_graphs()

    def save_adapter(self, folder: Path) -> None:
        """Writes the weights that a method has trained, without those of the base.

        Args:
            folder: Folder, which must not exist.

        Raises:
            FileExistsError: if there is something.
            ValueError: if neither `finetune` nor `add_adapter` has added something, or it was merged.

        Example:

            model.add_adapter("lora", rank=8)
            model.fit(texts)
            model.save_adapter("lora")
            same = firth.load("base").load_adapter("lora")
        """
        by_finetuning = isinstance(self.recipe, AdaptingRecipe) and self.recipe.method.adds
        if not by_finetuning and self._added_by is None:
            raise ValueError(
                f"{self.recipe.name} has no adapter to save alone; add_adapter('lora') adds one, and "
                "finetune(..., method='lora', merge=False) makes a model with one"
            )
        if not self.network.added.held and not self.network.additions:
            raise ValueError(f"the additions of {self.recipe.name} were merged; save() keeps the model")
        if self._added_by is None:
            save_adapter(self.network, self.recipe, folder)
        else:
            save_additions(self.network, self._added_by, folder)

    def load_adapter(self, folder: Path, without_heads: bool = False) -> "LanguageModel":
        """Returns the model with an adapter that `save_adapter`, a run or peft has written.

        Args:
            folder: Folder of the adapter.
            without_heads: True to leave out a trained head of peft's that this model has no place for.

        Raises:
            firth.tuning.AdapterError: if it cannot be read, or belongs to another base.
            firth.interop.errors.InteropError: for an adapter of peft that does not fit the model.
        """
        from firth.language_model.model import LanguageModel
        from firth.language_model.training import bundle_of

        with storage.scratch_folder() as scratch:
            bundle = bundle_of(self, scratch)
            if storage.exists(os.path.join(folder, _PEFT_CONFIG)):
                from firth.interop.peft import load_adapter as load_peft

                loaded = load_peft(folder, bundle, without_heads=without_heads)
                return LanguageModel(self.recipe, self.tokenizer, loaded.model)
            if (values := method_of_additions(folder)) is not None:
                model = LanguageModel(self.recipe, self.tokenizer, load_model(bundle))
                model.add_adapter(str(values.pop("kind")), **values)
                load_additions(model.network, folder)
                return model
            network, recipe = load_adapter(folder, bundle)
        return LanguageModel(recipe, self.tokenizer, network)


def _method_for(backbone: Backbone, method: Method | None) -> Method | None:
    """Returns the method for a backbone, of which a user may have frozen all or some layers.

    Raises:
        ValueError: for a method that trains what is frozen.
    """
    layers = (each for each in backbone.layers if not isinstance(each, CarriedState))
    frozen = [each.name for each in (backbone, *layers) if not each.trainable]
    if not frozen:
        return method
    if method is None and not backbone.trainable:
        return _HEAD
    kind = method.get("kind") if isinstance(method, Mapping) else method
    types: dict[str, Any] = dict(method_types())
    if kind != _HEAD and (kind is None or (kind in types and not types[kind].adds)):
        raise ValueError(
            f"method: {kind or 'full'} trains {frozen[0]}, whose trainable is False; set it to True, or give "
            "a method that leaves layers as they are, such as 'head', 'last_layers' or 'lora'"
        )
    return method
