"""The work of a process of `benchmarks.models`: one family on one worker.

python -m benchmarks.workers.work WORKER FAMILY SIZE LOTS

SIZE is JSON, LOTS an .npz of arrays named `<input>/<lot>/<feature>`.
"""

import importlib
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

from benchmarks.workers import families, turns

MODULES = {
    families.FIRTH: "firth",
    families.KERAS_HUB: "keras_hub",
    families.TRANSFORMERS: "transformers",
    families.TORCH: "torch",
    **dict.fromkeys(families.MODEL_GARDENS, "model_garden"),
}
OPTIONS = {families.MODEL_GARDEN_XLA: {"jit_compile": True}}


def read_lots(path: str) -> dict[tuple[str, int], dict[str, np.ndarray]]:
    lots: dict[tuple[str, int], dict[str, np.ndarray]] = {}
    with np.load(path) as arrays:
        for key, value in arrays.items():
            given, number, name = key.split("/")
            lots.setdefault((given, int(number)), {})[name] = value
    return lots


def main() -> None:
    worker, name, size, path = sys.argv[1:]
    module = importlib.import_module(f"benchmarks.workers.{MODULES[worker]}_worker")
    family = families.FAMILIES[name]
    model = module.Model(name, family, families.Size(**json.loads(size)), **OPTIONS.get(worker, {}))
    lots = {key: model.prepare(features, key[0]) for key, features in read_lots(path).items()}

    def do(work, given, lot):
        for batch in lots[given, lot]:
            getattr(model, work)(batch)

    turns.answer(model.versions, do)


if __name__ == "__main__":
    main()
