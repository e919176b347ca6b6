"""Trains one recipe and says what it learnt: a process of `benchmarks.learning`.

python -m benchmarks.learning_worker RECIPE.json PREPARED.json FOLDER FIGURES.json
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import json
import math
import pathlib
import statistics
import sys

import tensorflow as tf

from benchmarks.blindness import largest_leak
from benchmarks.learning_corpus import Prepared
from benchmarks.workers.memory import peak_bytes
from firth import features as names
from firth.objectives import OBJECTIVES
from firth.recipes.run.recipe import Recipe
from firth.serving.encoding import parse_rows
from firth.serving.evaluate import evaluator, unigram_log_probabilities
from firth.serving.served_model import Served
from firth.training.history import read_history
from firth.training.pretraining import load_recipe_tokenizer, open_rows, train
from firth.training.rows import count_pieces

HELD_OUT_ROWS, CHECKED_ROWS = 256, 4


def held_out_rows(pattern: str, count: int) -> tf.Tensor:
    files = sorted(tf.io.gfile.glob(pattern))
    kinds = {path.endswith(".gz") for path in files}
    records = tf.data.TFRecordDataset(files, "GZIP" if kinds == {True} else "")
    return next(iter(records.batch(count)))


def evaluate(served: Served, counts, examples: tf.Tensor) -> dict[str, float]:
    """Returns bits per byte of the main loss, and those of a unigram model on the same tokens."""
    unigram = unigram_log_probabilities(counts, served.tokenizer.vocabulary_size())
    sums = tf.function(evaluator(served, unigram))(examples)
    total = {name: float(tf.reduce_sum(value)) for name, value in sums.items()}
    bits = math.log(2) * total[names.BYTES_SUM]
    return {
        "bits_per_byte": total[names.TEXT_LOSS_SUM] / bits,
        "unigram_bits_per_byte": total[names.UNIGRAM_LOSS_SUM] / bits,
        "held_out_predictions": total[names.TEXT_WEIGHT_SUM],
    }


def features_of(served: Served, examples: tf.Tensor) -> dict:
    recipe = served.recipe
    objective = OBJECTIVES[recipe.objective.kind](recipe.objective, recipe.sequences, served.tokenizer)
    limits = recipe.sequences.max_documents, recipe.tokenizer.max_characters
    rows, negatives = parse_rows(examples, names.row_specs(objective.raw_length, *limits))
    outputs = {name: tf.TensorSpec(spec.shape, spec.dtype) for name, spec in objective.specs().items()}

    def make(row_and_negative):
        row, negative = row_and_negative
        return objective(row, negative, tf.stack([tf.constant(0, tf.int64), row[names.EXAMPLE_ID]]))

    batch = tf.map_fn(make, (rows, negatives), fn_output_signature=outputs)
    return {name: value.numpy() for name, value in batch.items()}


def run(recipe: Recipe, prepared: Prepared, folder: str) -> dict[str, float | None]:
    model = train(recipe, [prepared.train], prepared.tokenizer, f"{folder}/run", f"{folder}/checkpoints")
    # The peak of training alone; evaluation comes after.
    peak = peak_bytes() / 2**20
    tokenizer = load_recipe_tokenizer(recipe, prepared.tokenizer)
    rows = open_rows(recipe, [prepared.train], f"{folder}/checkpoints")
    counts = count_pieces(rows, recipe.tokenizer.vocabulary_size)
    served = Served(model, tokenizer, recipe)
    examples = held_out_rows(prepared.eval, HELD_OUT_ROWS)
    history = [line for line in read_history(f"{folder}/run") if line["step"] > 1]
    checked = features_of(served, examples[:CHECKED_ROWS])
    return {
        "steps": recipe.training.steps,
        "parameters": model.count_params(),
        "tokens_per_second": statistics.median(line["tokens_per_second"] for line in history),
        "seconds_per_step": (history[-1]["seconds"] - history[0]["seconds"])
        / (history[-1]["step"] - history[0]["step"]),
        "peak_megabytes": peak,
        "losses": {str(line["step"]): line["loss"] for line in history},
        "largest_leak": largest_leak(model.backbone, recipe.model.kind, checked),
        **evaluate(served, counts, examples),
    }


def main() -> None:
    recipe, prepared, folder, figures = sys.argv[1:]
    found = run(
        Recipe.from_json(pathlib.Path(recipe).read_text()),
        Prepared(*json.loads(pathlib.Path(prepared).read_text())),
        folder,
    )
    pathlib.Path(figures).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
