"""Cost of the import of a large checkpoint: peak memory above that of the process, and seconds.

A BERT of random weights is written in four shards, then brought in as a bundle, the bundle brought out again,
the shards brought in as `firth import` does, with the SavedModel, and the bundle loaded, each in a fresh
process. The bound is the model plus its largest tensor. Peak memory is the resident set of the process, less
what it had when its libraries were loaded.

transformers reads the same shards where `FIRTH_TORCH_PYTHON` names an interpreter that has it.

    .venv/bin/python -m benchmarks.import_memory
    .venv/bin/python -m benchmarks.import_memory --layers 2 --width 128   # in seconds
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks.workers.memory import peak_bytes, status_bytes

PIECES, SHARDS, MIB = 30_522, 4, 2**20
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def shapes(layers: int, width: int) -> dict[str, tuple[int, ...]]:
    """The tensors of BERT with the head of masked LM."""
    inner, found = 4 * width, {}

    def dense(name: str, inputs: int, outputs: int) -> None:
        found.update({f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)})

    def norm(name: str) -> None:
        found.update({f"{name}.weight": (width,), f"{name}.bias": (width,)})

    for name, rows in (("word", PIECES), ("position", 512), ("token_type", 2)):
        found[f"bert.embeddings.{name}_embeddings.weight"] = (rows, width)
    norm("bert.embeddings.LayerNorm")
    for layer in range(layers):
        block = f"bert.encoder.layer.{layer}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            dense(f"{block}.attention.{part}", width, width)
        norm(f"{block}.attention.output.LayerNorm")
        dense(f"{block}.intermediate.dense", width, inner)
        dense(f"{block}.output.dense", inner, width)
        norm(f"{block}.output.LayerNorm")
    dense("cls.predictions.transform.dense", width, width)
    norm("cls.predictions.transform.LayerNorm")
    found["cls.predictions.bias"] = (PIECES,)
    return found


def write_checkpoint(folder: pathlib.Path, layers: int, width: int) -> tuple[int, int]:
    """Writes a checkpoint; returns the bytes of all tensors and of the largest."""
    from firth.interop.hugging_face.checkpoint_folder import write_shards
    from firth.storage.tensor_files import TensorSpec

    random = np.random.default_rng(0)
    specs = {name: TensorSpec("F32", shape) for name, shape in shapes(layers, width).items()}
    total, largest = (of(spec.nbytes for spec in specs.values()) for of in (sum, max))

    def tensors(names):
        for name in names:
            yield name, random.standard_normal(specs[name].shape, "float32") * np.float32(0.02)

    folder.mkdir()
    write_shards(str(folder), specs, tensors, -(-total // SHARDS) + largest // 2)
    sizes = {"hidden_size": width, "num_hidden_layers": layers, "intermediate_size": 4 * width}
    config = {"model_type": "bert", "vocab_size": PIECES, "num_attention_heads": width // 64, **sizes}
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["BertForMaskedLM"]}))
    words = (f"w{number}" for number in range(PIECES - len(SPECIALS)))
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in (*SPECIALS, *words)))
    return total, largest


def bring_in(source: str, target: str) -> None:
    from firth.interop.hugging_face import import_model

    import_model(source, target, "large")


def bring_out(source: str, target: str) -> None:
    from firth.interop.hugging_face import export_model

    export_model(source, target)


def bring_in_whole(source: str, target: str) -> None:
    from firth.interop.formats import FORMATS
    from firth.pipelines.imported_models import import_run

    import_run(FORMATS["hf"], source, pathlib.Path(target))


def load(source: str, target: str) -> None:
    from firth.models import load_model

    load_model(source)


STEPS = {
    "in, the bundle alone": (bring_in, "hf", "bundle"),
    "out": (bring_out, "bundle", "again"),
    "in, all that `firth import` writes": (bring_in_whole, "hf", "run"),
    "the bundle loaded": (load, "bundle", "nothing"),
}


def measure(step: str, source: str, target: str) -> None:
    import keras

    from firth.interop.hugging_face import export_model, import_model
    from firth.pipelines.imported_models import import_run
    from firth.serving import export_bundle
    from firth.tokenizers import load_tokenizer

    del export_model, import_model, import_run, export_bundle, load_tokenizer
    keras.Variable(np.zeros(2))
    base, start = status_bytes()["VmRSS"], time.perf_counter()
    STEPS[step][0](source, target)
    seconds = time.perf_counter() - start
    peak = peak_bytes()
    print(json.dumps({"base": base, "peak": peak, "seconds": seconds}), flush=True)


PEER = """
import json, sys, time
import transformers, torch
from benchmarks.workers.memory import peak_bytes, status_bytes
base, start = status_bytes()["VmRSS"], time.perf_counter()
model = transformers.AutoModelForMaskedLM.from_pretrained(sys.argv[1])
# Read, as the weights of a bundle are: they may be mapped only.
total = sum(float(each.sum()) for each in model.parameters())
seconds = time.perf_counter() - start
model.save_pretrained(sys.argv[2])
both = time.perf_counter() - start
peak = peak_bytes()
print(json.dumps({"base": base, "peak": peak, "seconds": both, "reading": seconds}))
"""


def run(command: list[str]) -> dict[str, float]:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(result.stderr)
    found: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--layers", type=int, default=18)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--measure", nargs=3, metavar=("STEP", "SOURCE", "TARGET"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(*given.measure)
        return
    with tempfile.TemporaryDirectory() as root:
        total, largest = write_checkpoint(pathlib.Path(root, "hf"), given.layers, given.width)
        print(f"model {total / MIB:.0f} MiB, largest tensor {largest / MIB:.0f} MiB")
        rows = {
            step: run(
                [sys.executable, "-m", "benchmarks.import_memory", "--measure", step]
                + [os.path.join(root, place) for place in places]
            )
            for step, (_, *places) in STEPS.items()
        }
        if peer := os.environ.get("FIRTH_TORCH_PYTHON"):
            paths = [os.path.join(root, place) for place in ("hf", "peer")]
            rows["transformers, in and out"] = run([peer, "-c", PEER, *paths])
        for name, row in rows.items():
            base, above = row["base"] / MIB, (row["peak"] - row["base"]) / MIB
            print(f"{name}: {above:.0f} MiB above the {base:.0f} of the process, {row['seconds']:.1f} s")


if __name__ == "__main__":
    main()
