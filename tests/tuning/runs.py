"""Runs that adapt a tiny model by a method."""

import types

from firth import features
from firth.recipes.models.transformers import CausalTransformerConfig
from firth.recipes.objectives.language_models import CausalLM
from firth.recipes.reading.bundles import digest_of_bundle
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tuning.methods import method_types
from firth.tokenizers import WordPieceTokenizer, save_tokenizer
from firth.training.run_fn import run_fn
from tests.training.artifacts import VOCABULARY, raw_row, tiny_recipe, write_bundle, write_rows

ROWS, STEPS = 7, 4


def base_recipe(family):
    recipe = tiny_recipe()
    # Room for what a method puts before a row.
    positions = recipe.model.positions.model_copy(update={"length": recipe.sequences.length + 4})
    recipe = recipe.model_copy(update={"model": recipe.model.model_copy(update={"positions": positions})})
    if family == "bert":
        return recipe
    same = {key: getattr(recipe.model, key) for key in ("layers", "width", "attention", "positions")}
    return recipe.model_copy(update={"model": CausalTransformerConfig(**same), "objective": CausalLM()})


def first_chunk(row) -> dict:
    """A row with the first one of its texts alone."""
    (length, *_), tokens = row[features.CHUNK_LENGTHS], features.RAW_TOKENS
    cut = {each: row[each][:length] for each in (tokens, features.WORD_STARTS, features.SENTENCE_STARTS)}
    firsts = (features.CHUNK_LENGTHS, features.DOCUMENT_KEYS, features.RECORD_LABELS)
    return {**row, **cut, **{each: row[each][:1] for each in firsts}}


LORA = {"kind": "lora", "rank": 2, "dropout": 0.1}


def adapting(family, folder, method=LORA, **training) -> AdaptingRecipe:
    """A recipe over a bundle, next to which are labelled rows and the tokenizer."""
    recipe = base_recipe(family)
    bundle = write_bundle(folder / "bundle", recipe)
    save_tokenizer(WordPieceTokenizer(VOCABULARY), folder / "tokenizer")
    rows = [{**raw_row(number), features.RECORD_LABELS: [number % 2, 1]} for number in range(ROWS)]
    if isinstance(method, dict):
        method = method_types()[method["kind"]](**method)
    if method.one_text_in_a_row:
        rows = [first_chunk(row) for row in rows]
    write_rows(folder / "Split-train" / "data-00000.gz", rows)
    form = {"bert": {"kind": "bert"}, "gpt": {"kind": "last_token"}}[family]
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


def run(folder, recipe) -> None:
    """The Trainer's own function, on the rows of a folder, which gets `model`."""
    config = {"recipe": recipe.to_json(), "checkpoint_root": str(folder / "checkpoints")}
    run_fn(
        types.SimpleNamespace(
            train_files=[f"{folder}/Split-train/*"],
            eval_files=[],
            serving_model_dir=str(folder / "model" / "Format-Serving"),
            model_run_dir=str(folder / "run"),
            custom_config=config,
        )
    )
