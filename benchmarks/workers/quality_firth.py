"""firth's training, and its loss on the same held-out blocks: a process of `benchmarks.quality`.

python -m benchmarks.workers.quality_firth SETTINGS.json

It prints JSON: `seconds` of the training, from reading its rows to the last step, and the held-out loss.
"""

import json
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

from benchmarks.workers.batches import IGNORED
from benchmarks.workers.clocks import CLOCKS
from firth import features as names
from firth.models import example_sums
from firth.recipes.run.recipe import Recipe
from firth.training import train

HELD_OUT_BATCH, PAD = 32, 0


def held_out_features(work: str, ids: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Returns a batch as the objective of the work makes it, one document a row."""
    known = labels != IGNORED
    made = {
        names.TOKEN_IDS: ids,
        names.POSITION_IDS: np.broadcast_to(np.arange(ids.shape[1], dtype="int32"), ids.shape),
        names.DOCUMENT_IDS: (ids != PAD).astype("int32"),
    }
    if work == "causal":
        shifted = {names.LABEL_IDS: np.where(known, labels, 0), names.LABEL_WEIGHTS: known.astype("float32")}
        return made | shifted
    order = np.argsort(~known, axis=1, kind="stable")[:, : known.sum(1).max()]
    weights = np.take_along_axis(known, order, 1)
    return made | {
        names.SEGMENT_IDS: np.zeros_like(ids),
        names.MASKED_POSITIONS: (order * weights).astype("int32"),
        names.MASKED_LABELS: np.take_along_axis(labels, order, 1) * weights,
        names.MASKED_WEIGHTS: weights.astype("float32"),
    }


def held_out_loss(model: keras.Model, work: str, arrays) -> float:
    """Returns the mean loss of a held-out prediction, in nats."""
    total = count = 0.0
    ids, labels = arrays["held_out_ids"], arrays["held_out_labels"]
    for start in range(0, len(ids), HELD_OUT_BATCH):
        here = slice(start, start + HELD_OUT_BATCH)
        given = {
            name: tf.constant(value)
            for name, value in held_out_features(work, ids[here], labels[here]).items()
        }
        sums = example_sums(model(given, training=False))
        total += sum(
            float(tf.reduce_sum(value)) for name, value in sums.items() if name.endswith("_loss_sum")
        )
        count += sum(
            float(tf.reduce_sum(value)) for name, value in sums.items() if name.endswith("_weight_sum")
        )
    return total / count


def main() -> None:
    """Trains, measures and prints."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    settings = json.loads(pathlib.Path(sys.argv[1]).read_text())
    tf.config.threading.set_intra_op_parallelism_threads(settings["threads"])
    recipe = Recipe.from_json(settings["recipe"])
    with tempfile.TemporaryDirectory() as folder:
        clock = CLOCKS[settings["clock"]]
        started = clock()
        model = train(
            recipe, [f"{settings['rows']}/train/*"], settings["tokenizer"], f"{folder}/run", f"{folder}/kept"
        )
        seconds = clock() - started
    with np.load(settings["arrays"]) as arrays:
        loss = held_out_loss(model, settings["work"], arrays)
    found = {"seconds": seconds, "steps": recipe.training.steps, "loss": loss}
    print(json.dumps({**found, "parameters": model.count_params()}), file=answers, flush=True)


if __name__ == "__main__":
    main()
