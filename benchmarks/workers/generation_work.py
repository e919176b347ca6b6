"""The work of a process of `benchmarks.generation`: one library that writes after prompts of random tokens.

python -m benchmarks.workers.generation_work LIBRARY SIZE FOLDER DTYPE
"""

import importlib
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks.workers import turns
from benchmarks.workers.generation_sizes import GenerationSize


def main() -> None:
    library, size, folder, dtype = sys.argv[1:]
    module = importlib.import_module(f"benchmarks.workers.generation_{library}")
    model = module.Model(GenerationSize(**json.loads(size)), folder, dtype)
    turns.answer(model.versions, lambda work, given, steps: {"tokens": model.write(int(given))})


if __name__ == "__main__":
    main()
