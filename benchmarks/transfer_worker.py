"""Adapts a bundle to a task with several seeds and rates: a process of `benchmarks.transfer`.

python -m benchmarks.transfer_worker JSON
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import json
import pathlib
import sys

from benchmarks.adapting import Adapting


def main() -> None:
    said = json.loads(sys.argv[1])
    adapting = Adapting(pathlib.Path(said["folder"]), said["records"])
    best = None
    for seed in said["seeds"]:
        runs = []
        for rate in said["rates"] if best is None else [best]:
            more = {**said["more"], "seed": seed, "training.optimizer.learning_rate": rate}
            recipe = adapting.recipe(said["bundle"], said["data"], said["task"], **more)
            headline = recipe.task.score_names[0]
            scores = adapting.scores(recipe)
            runs.append({"seed": seed, "rate": rate, "headline": headline, "scores": scores})
            print(json.dumps(runs[-1]), flush=True)
        best = max(runs, key=lambda run: run["scores"][headline])["rate"] if best is None else best


if __name__ == "__main__":
    main()
