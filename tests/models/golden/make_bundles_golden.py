"""Writes bundles of tiny models with their tokenizers, hidden states, logits and token ids.

With a checkout of the commit that writes them, in the environment of the tests:

    PYTHONPATH=CHECKOUT python tests/models/golden/make_bundles_golden.py COMMIT

`bundles.zip` has a folder a bundle, `<name>.npz` with its features and answers, and `made_with.json`.
"""

import hashlib
import importlib.metadata
import json
import pathlib
import sys
import tempfile
import zipfile

import numpy as np

from firth.models import build_model, save_model
from firth.recipes import AdaptingRecipe, load_recipe
from firth.tokenizers import (
    BytePairTokenizer,
    WordPieceTokenizer,
    WordTokenizer,
    build_word_vocabulary,
    count_byte_words,
    count_words,
    save_tokenizer,
    train_byte_pairs,
    train_wordpiece,
)

FILE = pathlib.Path(__file__).with_name("bundles.zip")
TEXTS = [
    "A cat sat on the mat, and the dog saw it.",
    "The owl met a fox at noon: it ran off!",
    "Ünïcödé 中文",
]
STEMS = ("walk", "talk", "bank", "rank", "turn", "burn", "light", "sight", "night", "paint", "point", "print")
LEARNED = [
    *TEXTS,
    " ".join(stem + ending for stem in STEMS for ending in ("", "s", "ed", "ing", "er", "ers")),
]
LENGTH, BATCH = 12, 2
# Number of positions of a row whose logits are kept.
PLACES = 3
BLOCKS = ["model.width=8", "model.layers=1", "model.attention.heads=2", "model.feed_forward.width=8"]
MASKS = ["objective.max_predictions=3"]
POSITIONS = [f"model.positions.length={LENGTH}"]
CNN = "model={cells: 8, projection_width: 4, characters: {width: 4, filters: [[1, 4], [2, 4]]}}"
# A SentencePiece model holds a table of Unicode of 240 kB.
PIECES = "tokenizer={kind: wordpiece, sentinels: 4}"
# Presets and changes of their values.
MODELS = {
    "bert_tiny": BLOCKS + POSITIONS + MASKS,
    "albert_tiny": BLOCKS + POSITIONS + MASKS + ["model.embeddings.width=4", PIECES],
    "electra_tiny": BLOCKS + POSITIONS + MASKS + ["model.embeddings.width=4"],
    "xlnet_tiny": [*BLOCKS, *MASKS, PIECES],
    "gpt2_tiny": BLOCKS + POSITIONS,
    "t5_tiny": [*BLOCKS, PIECES],
    "elmo_tiny": [CNN, "objective.negatives=8"],
}
TASK = {"kind": "classification", "labels": ("no", "yes")}


def _tokenizers():
    return {
        "wordpiece": WordPieceTokenizer(train_wordpiece(count_words(LEARNED, True), 96, 1)),
        "bpe": BytePairTokenizer(train_byte_pairs(count_byte_words(LEARNED), 280, 1)),
        "words": WordTokenizer(build_word_vocabulary(count_words(LEARNED, False), 20)),
    }


def _features(recipe, size):
    drawn = np.random.default_rng(4)
    places = np.tile(np.arange(LENGTH, dtype="int32"), (BATCH, 1))
    tokens = drawn.integers(0, size, (BATCH, LENGTH)).astype("int32")
    documents = np.array([[1] * LENGTH, [1] * 8 + [0] * 4], "int32")
    features = {"token_ids": tokens, "position_ids": places, "document_ids": documents}
    if recipe.model.kind == "encoder_decoder":
        return {**features, **{f"decoder_{name}": each[:, ::-1] * 1 for name, each in features.items()}} | {
            "decoder_position_ids": places,
            "decoder_document_ids": documents,
        }
    if recipe.model.kind == "bilstm":
        features["characters"] = drawn.integers(0, 261, (BATCH, LENGTH, 50)).astype("int32")
    if recipe.model.kind == "two_stream_transformer":
        features["masked_positions"] = np.array([[1, 4, 6], [2, 3, 7]], "int32")
    pooled = np.zeros((BATCH, recipe.sequences.max_documents), "int32")
    segments = (places > 5).astype("int32") if recipe.model.kind != "causal_transformer" else places * 0
    return {**features, "segment_ids": segments, "pooled_positions": pooled}


def _fill(model):
    drawn = np.random.default_rng(5)
    for each in model.trainable_variables:
        # Few different values, so that the archive is small.
        around = 1.0 if each.path.endswith(("gamma", "scale")) else 0.0
        each.assign(around + drawn.integers(-8, 9, each.shape) / 16)


def _write(folder, name, recipe, tokenizer):
    model = build_model(recipe)
    _fill(model)
    save_tokenizer(tokenizer, folder / "words" / name)
    save_model(model, recipe, folder / "words" / name, folder / "bundles" / name)
    features = _features(recipe, len(tokenizer.get_vocabulary()))
    answers = {"hidden": model.backbone(features)}
    answers |= {f"logits/{loss}": each[:, :PLACES] for loss, each in model.logits(features).items()}
    ids = {f"ids/{place}": tokenizer.tokenize(text).numpy() for place, text in enumerate(TEXTS)}
    inputs = {f"features/{key}": each for key, each in features.items()}
    np.savez_compressed(
        folder / "bundles" / f"{name}.npz",
        **inputs,
        **ids,
        **{key: np.asarray(each) for key, each in answers.items()},
    )


def main():
    """Writes all bundles into one archive."""
    tokenizers = _tokenizers()
    with tempfile.TemporaryDirectory() as root:
        folder = pathlib.Path(root)
        (folder / "words").mkdir()
        (folder / "bundles").mkdir()
        for name, changes in MODELS.items():
            kind = "wordpiece" if PIECES in changes else load_recipe(name).tokenizer.kind
            tokenizer = tokenizers[kind]
            size = len(tokenizer.get_vocabulary())
            sizes = [
                f"tokenizer.vocabulary_size={size}",
                f"sequences.length={LENGTH}",
                "sequences.max_documents=1",
            ]
            _write(folder, name, load_recipe(name, [*changes, *sizes]), tokenizer)
        base = load_recipe(str(folder / "bundles" / "bert_tiny" / "recipe.yaml"))
        weights = (folder / "bundles" / "bert_tiny" / "weights.safetensors").read_bytes()
        adapted = AdaptingRecipe(
            name="adapted",
            data={"kind": "columns", "train": "labelled.csv"},
            base={"bundle": "bert_tiny", "digest": hashlib.sha256(weights).hexdigest()},
            tokenizer=base.tokenizer,
            sequences=base.sequences,
            model=base.model,
            task=TASK,
            training=base.training,
        )
        _write(folder, "classification", adapted, tokenizers["wordpiece"])
        versions = {
            each: importlib.metadata.version(each) for each in ("tensorflow", "keras", "tensorflow-text")
        }
        (folder / "bundles" / "made_with.json").write_text(json.dumps({"commit": sys.argv[1], **versions}))
        with zipfile.ZipFile(FILE, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
            for each in sorted((folder / "bundles").rglob("*")):
                if each.is_file():
                    file.write(each, each.relative_to(folder / "bundles"))


if __name__ == "__main__":
    main()
