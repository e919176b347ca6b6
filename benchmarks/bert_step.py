"""A training step of firth's masked LM beside KerasHub's, of the same size, on the same rows.

    python -m benchmarks.bert_step                            # docstrings of installed packages
    python -m benchmarks.bert_step --text book.txt            # one's own text, a document a line
    python -m benchmarks.bert_step --rounds 20 --json figures.json

Forward, backward, clipping and AdamW in a compiled function, BERT of 4 layers and width 256, rows of 128
tokens with 20 predictions, batches of 32, 30,522 pieces, dropout 0.1. Both gather the masked positions before
the vocabulary projection. Both take one step in turn, several rounds; the figures are medians. Processor time
is that of all cores together, and varies less than wall time where others use the machine too.

Rows are packed, and words get ids by a hash: which ones does not change the work. KerasHub cannot keep the
documents of a row apart and lets them see each other, which does not change it either.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import json
import pathlib
import re
import statistics
import time
import zlib
from collections.abc import Callable

import numpy as np

from benchmarks.tokenization import read_texts

BATCH, LENGTH, PREDICTIONS, PIECES = 32, 128, 20, 30_522
LAYERS, WIDTH, HEADS, DROPOUT = 4, 256, 4, 0.1
OURS, PEER = "firth", "KerasHub"


def read_rows(texts: list[str]) -> list[list[list[str]]]:
    """Packs texts into rows of at most LENGTH words; a row is a list of documents, each a list of words."""
    documents = [re.findall(r"\w+|[^\w\s]", text.lower())[:LENGTH] for text in texts]
    rows: list[list[list[str]]] = [[]]
    for document in filter(None, documents):
        if sum(map(len, rows[-1])) + len(document) > LENGTH:
            rows.append([])
        rows[-1].append(document)
    return rows


def make_batch(rows, seed: int) -> dict[str, np.ndarray]:
    """Returns the features of BATCH rows, as `firth.features.masked_lm_specs`."""
    generator = np.random.default_rng(seed)
    integers = ("token_ids", "segment_ids", "position_ids", "document_ids")
    features = {name: np.zeros((BATCH, LENGTH), "int32") for name in integers}
    for index, row in enumerate(rows):
        place = 0
        for number, document in enumerate(row, 1):
            here = index, slice(place, place + len(document))
            features["token_ids"][here] = [zlib.crc32(word.encode()) % (PIECES - 5) + 5 for word in document]
            features["position_ids"][here] = np.arange(len(document))
            features["document_ids"][here] = number
            place += len(document)
    real = features["document_ids"] > 0
    order = np.argsort(np.where(real, generator.random(real.shape), 2.0), axis=1)[:, :PREDICTIONS]
    features["masked_positions"] = order.astype("int32")
    features["masked_labels"] = np.take_along_axis(features["token_ids"], order, axis=1)
    features["masked_weights"] = np.take_along_axis(real, order, axis=1).astype("float32")
    return features


def firth_step(precision: str) -> Callable:
    import tensorflow as tf

    from firth.models import build_pretraining_model, example_sums
    from firth.recipes import Bert, MaskedLM, Recipe, TextSource, Training
    from firth.training.optimizers import build_optimizer
    from firth.training.step import build_train_step

    recipe = Recipe(
        name="benchmark",
        sources=(TextSource(kind="text", paths=("*.txt",)),),
        objective=MaskedLM(max_predictions=PREDICTIONS, next_sentence=False),
        model=Bert(layers=LAYERS, width=WIDTH, heads=HEADS, dropout=DROPOUT, attention_dropout=DROPOUT),
        training=Training.model_validate({"batch_size": BATCH, "precision": precision}),
    )
    model = build_pretraining_model(recipe)
    optimizer = build_optimizer(recipe.training.optimizer, recipe.training.steps)
    optimizer.build(model.trainable_variables)
    step = build_train_step(model, optimizer, example_sums, tf.distribute.get_strategy(), recipe.seed)
    return lambda features: step(features).loss


def keras_hub_step(precision: str) -> Callable:
    import keras
    import keras_hub
    import tensorflow as tf

    backbone = keras_hub.models.BertBackbone(
        PIECES, LAYERS, HEADS, WIDTH, 4 * WIDTH, dropout=DROPOUT, max_sequence_length=512, dtype=precision
    )
    head = keras_hub.layers.MaskedLMHead(
        token_embedding=backbone.token_embedding,
        intermediate_activation=lambda x: keras.activations.gelu(x, approximate=False),
        dtype=precision,
    )
    positions = keras.Input((PREDICTIONS,), dtype="int32", name="masked_positions")
    logits = head(backbone.output["sequence_output"], positions)
    model = keras.Model({**backbone.input, "masked_positions": positions}, logits)
    cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.AdamW(1e-4, weight_decay=0.01, epsilon=1e-6, global_clipnorm=1.0)
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(features):
        inputs = {name: features[name] for name in ("token_ids", "segment_ids", "masked_positions")}
        inputs["padding_mask"] = tf.cast(features["document_ids"] > 0, tf.int32)
        with tf.GradientTape() as tape:
            logits = model(inputs, training=True)
            loss = cross_entropy(features["masked_labels"], logits, features["masked_weights"])
        weights = model.trainable_weights
        optimizer.apply(tape.gradient(loss, [weight.value for weight in weights]), weights)
        return loss

    return step


def measure(steps: dict[str, Callable], batches: list, rounds: int) -> dict[str, dict[str, float]]:
    """Returns median milliseconds of wall and processor time a step, and of non-padding tokens a second."""
    figures: dict[str, dict[str, list[float]]] = {
        name: {"milliseconds": [], "processor_milliseconds": [], "tokens_per_second": []} for name in steps
    }
    for round_number in range(-2, rounds):
        features = batches[round_number % len(batches)]
        tokens = int((features["document_ids"].numpy() > 0).sum())
        for name, step in steps.items():
            wall, processor = time.perf_counter(), time.process_time()
            float(step(features))
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            if round_number >= 0:
                figures[name]["milliseconds"].append(1e3 * wall)
                figures[name]["processor_milliseconds"].append(1e3 * processor)
                figures[name]["tokens_per_second"].append(tokens / wall)
    return {
        name: {unit: statistics.median(values) for unit, values in units.items()}
        for name, units in figures.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--text", type=pathlib.Path, help="a file to read instead of docstrings")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    arguments = parser.parse_args()

    import tensorflow as tf

    rows = read_rows(read_texts(arguments.text, megabytes=0.5))
    batches = [
        {name: tf.constant(value) for name, value in make_batch(rows[start : start + BATCH], start).items()}
        for start in range(0, min(len(rows) - BATCH, 8 * BATCH) + 1, BATCH)
    ]
    makers = {OURS: firth_step, PEER: keras_hub_step}
    ratios: dict[str, dict[str, float]] = {}
    print(f"{'':28}{'ms a step':>12}{'processor ms':>14}{'tokens/s':>10}")
    results = {}
    for precision in ("float32", "mixed_bfloat16"):
        steps = {name: make(precision) for name, make in makers.items()}
        figures = measure(steps, batches, arguments.rounds)
        results[precision] = figures
        for name, row in figures.items():
            print(
                f"{name + ', ' + precision:28}{row['milliseconds']:12.0f}"
                f"{row['processor_milliseconds']:14.0f}{row['tokens_per_second']:10.0f}"
            )
        ours, peer = figures[OURS], figures[PEER]
        ratios[precision] = {
            unit: peer[unit] / ours[unit] for unit in ("milliseconds", "processor_milliseconds")
        }
        print(
            f"firth is {ratios[precision]['milliseconds']:.2f}x as fast by wall time, "
            f"{ratios[precision]['processor_milliseconds']:.2f}x by processor time"
        )
    if arguments.json:
        arguments.json.write_text(
            json.dumps({"steps": results, "firth_over_keras_hub": ratios}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
