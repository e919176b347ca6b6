"""The work of a process of `benchmarks.finetune`: one library on the records of a folder.

python -m benchmarks.workers.finetune_work LIBRARY SIZE FOLDER

SIZE is JSON; the folder is what `benchmarks.workers.finetune_data.prepare` wrote.
"""

import importlib
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks.workers import families, turns
from benchmarks.workers.finetune_sizes import FineTuneSize

# Libraries that are not called as their module, or are measured in more than one way.
LIBRARIES = {
    families.MODEL_GARDEN: ("model_garden", {}),
    families.MODEL_GARDEN_XLA: ("model_garden", {"jit_compile": True}),
}


def main() -> None:
    library, size, folder = sys.argv[1:]
    name, options = LIBRARIES.get(library, (library, {}))
    module = importlib.import_module(f"benchmarks.workers.finetune_{name}")
    model = module.Model(FineTuneSize(**json.loads(size)), folder, **options)
    turns.answer(model.versions, lambda work, given, steps: model.steps(steps))


if __name__ == "__main__":
    main()
