"""The work of a process of `benchmarks.finetune`: one library on the records of a folder.

python -m benchmarks.workers.finetune_work LIBRARY SIZE FOLDER

SIZE is JSON; the folder is what `benchmarks.workers.finetune_data.prepare` wrote.
"""

import importlib
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks.workers import turns
from benchmarks.workers.finetune_sizes import FineTuneSize


def main() -> None:
    library, size, folder = sys.argv[1:]
    module = importlib.import_module(f"benchmarks.workers.finetune_{library}")
    model = module.Model(FineTuneSize(**json.loads(size)), folder)
    turns.answer(model.versions, lambda work, given, steps: model.steps(steps))


if __name__ == "__main__":
    main()
