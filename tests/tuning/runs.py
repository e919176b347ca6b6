"""Runs that adapt a tiny model by a method."""

import shutil
import types
from unittest import mock

import numpy as np

from firth import features
from firth.models.bundle import weights_by_path
from firth.recipes.models.blocks import SharedLayersConfig
from firth.recipes.models.positions import RelativeBucketsConfig
from firth.recipes.models.transformers import (
    CausalTransformerConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
)
from firth.recipes.models.two_stream_transformer import TwoStreamTransformerConfig
from firth.recipes.objectives.denoising import Denoising
from firth.recipes.objectives.language_models import CausalLM, PermutationLM
from firth.recipes.reading.bundles import digest_of_bundle
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.run.recipe import Recipe
from firth.recipes.tuning.adding import BottleneckMethod
from firth.recipes.tuning.methods import method_types
from firth.recipes.tuning.prompts import PromptMethod
from firth.training import train
from firth.training.run_fn import run_fn
from tests.exported_model import first_signature_alone
from tests.training.artifacts import raw_row, tiny_recipe, write_bundle, write_rows
from tests.training.eagerly import eagerly
from tests.training.word_artifacts import tiny_elmo, word_row, word_tokenizer

ROWS, STEPS = 7, 4


# How the texts of a row are laid out for the bases of each family.
FORMS = {
    "bert": "bert",
    "albert": "bert",
    "gpt": "last_token",
    "t5": "both_sides",
    "xlnet": "cls_last",
    "elmo": "mixed_layers",
}


def base_recipe(family) -> Recipe:
    """The recipe of a tiny base of a family, a key of `FORMS`."""
    if family == "elmo":
        return tiny_elmo()
    recipe = tiny_recipe()
    # Room for what a method puts before a row.
    positions = recipe.model.positions.model_copy(update={"length": recipe.sequences.length + 4})
    same = {key: getattr(recipe.model, key) for key in ("layers", "width", "attention")}
    parts = {
        "bert": {"model": recipe.model.model_copy(update={"positions": positions})},
        "albert": {
            "model": MaskedTransformerConfig(
                **{**same, "layers": 2}, positions=positions, share_layers=SharedLayersConfig()
            )
        },
        "gpt": {"model": CausalTransformerConfig(**same, positions=positions), "objective": CausalLM()},
        "t5": {
            "model": EncoderDecoderConfig(**same, positions=RelativeBucketsConfig()),
            "objective": Denoising(),
        },
        "xlnet": {"model": TwoStreamTransformerConfig(**same), "objective": PermutationLM()},
    }
    return recipe.model_copy(update=parts[family])


def fits(kind, family) -> bool:
    """Returns true if a family's base has a place for what a method adds."""
    refused = {"xlnet": (PromptMethod,), "elmo": (PromptMethod, BottleneckMethod)}
    return not issubclass(method_types()[kind], refused.get(family, ()))


def write_base(folder, family, seed=7) -> str:
    """Writes a bundle of a family's base that is not trained, and its tokenizer; returns its path."""
    tokenizer = word_tokenizer() if family == "elmo" else None
    return write_bundle(folder, base_recipe(family), seed, tokenizer)


def labelled_row(number, family) -> dict:
    """A row of two texts with labels, as it is stored."""
    row = word_row(number) if family == "elmo" else raw_row(number)
    return {**row, features.RECORD_LABELS: [number % 2, 1]}


def first_chunk(row) -> dict:
    """A row with the first one of its texts alone."""
    (length, *_), tokens = row[features.CHUNK_LENGTHS], features.RAW_TOKENS
    cut = {each: row[each][:length] for each in (tokens, features.WORD_STARTS, features.SENTENCE_STARTS)}
    firsts = (features.CHUNK_LENGTHS, features.DOCUMENT_KEYS, features.RECORD_LABELS)
    return {**row, **cut, **{each: row[each][:1] for each in firsts}}


LORA = {"kind": "lora", "rank": 2, "dropout": 0.1}


def adapting(family, folder, method=LORA, **training) -> AdaptingRecipe:
    """A recipe over a bundle, next to which are labelled rows and the tokenizer."""
    recipe, bundle = base_recipe(family), write_base(folder / "bundle", family)
    shutil.copytree(f"{bundle}-tokenizer", folder / "tokenizer", dirs_exist_ok=True)
    rows = [labelled_row(number, family) for number in range(ROWS)]
    if isinstance(method, dict):
        method = method_types()[method["kind"]](**method)
    if method.one_text_in_a_row:
        rows = [first_chunk(row) for row in rows]
    write_rows(folder / "Split-train" / "data-00000.gz", rows)
    form = {"kind": FORMS[family], **({"layers": 1, "cells": 5} if family == "elmo" else {})}
    optimizer = {"kind": "adamw", "learning_rate": 0.01, "warmup_steps": 0, "weight_decay": 0.5}
    recipe = AdaptingRecipe(
        name="adapted",
        data={"kind": "columns", "train": "labelled.csv"},
        base={"bundle": bundle, "digest": digest_of_bundle(bundle)},
        tokenizer=recipe.tokenizer,
        sequences=recipe.sequences,
        model=recipe.model,
        task={"kind": "classification", "labels": ("no", "yes"), "form": form},
        training={
            "steps": STEPS,
            "batch_size": 4,
            "checkpoint_every_steps": 2,
            "log_every_steps": 1,
            "optimizer": optimizer,
            **training,
        },
        epochs=2.0,
        examples_per_step=8,
    )
    return by_method(recipe, method)


def by_method(recipe, method) -> AdaptingRecipe:
    """A recipe with another method, and as many texts in a row as it takes."""
    documents = 1 if method.one_text_in_a_row else recipe.sequences.max_documents
    said = recipe.model_dump()
    said["sequences"]["max_documents"] = documents
    return AdaptingRecipe.of({**said, "method": method.model_dump()})


def weights_after(recipe, folder, place, checkpoints) -> dict[str, np.ndarray]:
    """The weights by path after a run on the rows of a folder, which writes to `place` and `checkpoints`."""
    model = train(recipe, [f"{folder}/Split-train/*"], f"{folder}/tokenizer", str(place), str(checkpoints))
    return {path: np.array(each) for path, each in weights_by_path(model).items()}


def run(folder, recipe, served: bool = True) -> None:
    """Calls the Trainer's own function on the rows of a folder, which gets `model`, with one signature.

    Args:
        folder: Folder that `adapting` has written.
        recipe: The run's recipe.
        served: Export the model too, which costs more than the training.
    """
    config = {"recipe": recipe.to_json(), "checkpoint_root": str(folder / "checkpoints")}
    with eagerly(), first_signature_alone() if served else mock.patch("firth.serving.export"):
        run_fn(
            types.SimpleNamespace(
                train_files=[f"{folder}/Split-train/*"],
                eval_files=[],
                serving_model_dir=str(folder / "model" / "Format-Serving"),
                model_run_dir=str(folder / "run"),
                custom_config=config,
            )
        )
