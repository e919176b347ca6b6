"""The work of a process of `benchmarks.structured`: one library that writes JSON by schemas.

python -m benchmarks.workers.structured_work LIBRARY SIZE FOLDER
"""

import importlib
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks.workers import turns
from benchmarks.workers.generation_sizes import GenerationSize
from benchmarks.workers.structured_schemas import END, SCHEMAS

# Steps of a text whose masks are measured.
_STEPS = 64


def walked(model, name, batch):
    """Returns the seconds of each step's masks, of texts that are drawn from them."""
    import numpy as np

    found, drawn = [], np.random.default_rng(0)
    texts = model.begun(name, batch)
    for _ in range(_STEPS):
        begin = time.perf_counter()
        words = model.masks(texts)
        found.append(time.perf_counter() - begin)
        bits = np.unpackbits(np.asarray(words).view(np.uint8), axis=1, bitorder="little")
        for row in range(batch):
            tokens = np.flatnonzero(bits[row])
            token = int(drawn.choice(tokens))
            if token == END:
                # Another text begins in its row.
                texts[row] = model.begun(name, 1)[0]
            else:
                model.accept(texts, row, token)
    return found


def main() -> None:
    library, size, folder = sys.argv[1:]
    module = importlib.import_module(f"benchmarks.workers.structured_{library.partition(' ')[0]}")
    model = module.Model(library.partition(" ")[2], GenerationSize(**json.loads(size)), folder)

    def do(work, given, number):
        if work == "compile":
            return {"took": model.compile(given, SCHEMAS[given])}
        if work == "masks":
            return {"masks": walked(model, given, number)}
        name, _, most = given.partition(" ")
        return {"steps": model.write(None if name == "free" else name, number, int(most))}

    turns.answer(model.versions, do)


if __name__ == "__main__":
    main()
