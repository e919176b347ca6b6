"""Writing text with models of published sizes, firth next to its peers, in the same minute.

    python -m benchmarks.generation                            # three sizes, batches of 1 and 8, three rounds
    python -m benchmarks.generation --sizes gpt2_small --batches 1 --rounds 5 --json figures.json
    python -m benchmarks.generation --torch-python PYTHON      # or FIRTH_TORCH_PYTHON=PYTHON

Random weights, prompts of 32 tokens, 64 tokens written after each, the likeliest one at each place. `firth`
is `load_generator(bundle)`, `ctranslate2` the same with `engine="ctranslate2"`: both read and give texts.
`transformers` is `generate` on torch and `keras_hub` `generate` of its models, without a tokenizer: they read
ids and give ids; KerasHub has no T5 that writes. Each library has a process of its own; those of one row of
dtypes are alive at the same time and write in turn, one batch each in every round, after one that is not
counted. Figures are medians.

The roofline: a step reads every weight of the stack that writes once, whatever the batch, but for the tables
of positions. `GB/s` is what so many bytes in the measured seconds come to, next to what this machine reads:
the largest number of an array of 2 GB by all cores, the best of five. Keys and values are left out, which are
less than 4% here, and an encoder, which reads a prompt once. A row where a peer is ahead of firth's own model
in the same row of dtypes is marked BEHIND. `ms` is the processor time of a token.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import concurrent.futures
import dataclasses
import datetime
import json
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np

from benchmarks.workers.generation_sizes import SIZES, GenerationSize
from benchmarks.workers.turns import started

FIRTH, PEERS = "firth", ("transformers", "keras_hub", "ctranslate2")
# By the row, the dtypes of its workers.
ROWS = {
    "float32": {
        FIRTH: "float32",
        "transformers": "float32",
        "keras_hub": "float32",
        "ctranslate2": "float32",
        "ctranslate2 int8": "int8",
    },
    "bfloat16": {FIRTH: "bfloat16", "transformers": "bfloat16", "keras_hub": "bfloat16"},
}
BYTES = {"float32": 4, "bfloat16": 2, "int8": 1}
_GIGABYTES = 2


def read_bandwidth():
    """Returns the GB/s at which all cores together read an array that no cache holds."""
    array = np.ones(_GIGABYTES * 2**28, np.float32)
    parts = np.array_split(array, os.cpu_count())
    best = 0.0
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        for _ in range(5):
            begin = time.perf_counter()
            list(pool.map(np.max, parts))
            best = max(best, array.nbytes / (time.perf_counter() - begin) / 1e9)
    return best


def commands_of(row, size, folder, options):
    """Returns the interpreter and the arguments of each worker of a row."""
    commands = {}
    for name, dtype in ROWS[row].items():
        library = name.split(" ")[0]
        python = options.torch_python if library == "transformers" else sys.executable
        if python and library in options.libraries and library not in size.left_out:
            given = [library, json.dumps(dataclasses.asdict(size)), folder, dtype]
            commands[name] = (python, given)
    return commands


def measure(row, size, folder, options):
    """Returns, by batch and worker, the medians of a batch's seconds, its tokens, and the peak memory."""
    figures = {}
    with started(
        commands_of(row, size, folder, options), module="benchmarks.workers.generation_work"
    ) as workers:
        for batch in options.batches:
            done = {name: [] for name in workers}
            for turn in range(options.rounds + 1):
                for name, worker in workers.items():
                    found = worker.step("generation", str(batch), 1)
                    if turn:
                        done[name].append(found)
            figures[batch] = {
                name: {
                    **{
                        key: statistics.median(each[key] for each in made)
                        for key in ("seconds", "processor_seconds")
                    },
                    "tokens": made[0]["tokens"],
                    "peak_megabytes": made[-1]["peak_megabytes"],
                }
                for name, made in done.items()
            }
        return figures, {name: worker.versions for name, worker in workers.items()}


def lines(name_of_size, row, figures, size, bandwidth):
    """Yields a line for each batch and worker."""
    for batch, made in figures.items():
        ours = made.get(FIRTH, {}).get("seconds")
        for name, each in made.items():
            dtype = ROWS[row][name]
            # The prompt takes one more pass.
            steps = each["tokens"] / batch
            gigabytes = size.parameters_read * BYTES[dtype] / 1e9
            achieved = gigabytes * steps / each["seconds"]
            ratio = "" if not ours or name == FIRTH else f"{each['seconds'] / ours:5.2f}x"
            mark = "  BEHIND" if ours and each["seconds"] < ours else ""
            yield (
                f"{name_of_size} {row:9} batch {batch}  {name:17} "
                f"{each['tokens'] / each['seconds']:7.1f} tokens/s"
                f"  {each['processor_seconds'] / each['tokens'] * 1e3:5.1f} ms"
                f"  {gigabytes:.3f} GB a step, {achieved:5.1f} of {bandwidth:.1f} GB/s"
                f"  {each['peak_megabytes']:6,.0f} MB  {ratio}{mark}"
            )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--libraries", nargs="+", choices=[FIRTH, *PEERS], default=[FIRTH, *PEERS])
    parser.add_argument("--torch-python", default=os.environ.get("FIRTH_TORCH_PYTHON"))
    parser.add_argument("--json", type=pathlib.Path)
    changeable = [each.name for each in dataclasses.fields(GenerationSize) if type(each.default) is int]
    for name in changeable:
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, help="of all sizes")
    options = parser.parse_args()
    changes = {name: value for name in changeable if (value := getattr(options, name)) is not None}
    sizes = {name: dataclasses.replace(SIZES[name], **changes) for name in options.sizes}
    if not options.torch_python:
        print("transformers is left out: set FIRTH_TORCH_PYTHON to a Python that has torch and transformers")
    # In a process of its own: a child's peak memory begins at its parent's.
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        bandwidth = pool.submit(read_bandwidth).result()
    print(f"{datetime.date.today()}, {os.cpu_count()} cores under a load of {os.getloadavg()[0]:.1f}")
    print(f"this machine reads {bandwidth:.1f} GB/s", flush=True)
    results = {"bandwidth": bandwidth, "rows": {}, "versions": {}}
    for name, size in sizes.items():
        with tempfile.TemporaryDirectory() as folder:
            for row in options.rows:
                made, versions = measure(row, size, folder, options)
                results["rows"][f"{name} {row}"] = made
                results["versions"] |= versions
                print("\n".join(lines(name, row, made, size, bandwidth)), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
