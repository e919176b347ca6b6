"""Fine-tuning BERT, firth next to transformers and Model Garden, on the same records in the same minute.

    python -m benchmarks.finetune                              # all tasks, the size of MiniLM-L6
    python -m benchmarks.finetune sst2 --records 512 --rounds 2
    python -m benchmarks.finetune sst2 --method lora           # next to peft; transformers has its models
    python -m benchmarks.finetune --torch-python PYTHON        # or FIRTH_TORCH_PYTHON=PYTHON

SST-2, pairs of MultiNLI, CoNLL-2000's chunks and windows of SQuAD 1.1 of `../shared/data`, or what
FIRTH_SHARED_DATA names; where a data set is not there, the docstring task of its kind. Both read the same
pieces: those of FIRTH_MINILM's tokenizer, or of a WordPiece tokenizer trained on the records. Weights are
random.

firth packs records into rows of 128, windows into rows of 384, shuffles the rows and makes features in its
input pipeline, as `firth finetune` does, with rows for 32 records a step on average. transformers gets
batches of 32 that are ready in memory: sorted by length, so that there is next to no padding, and padded to
the longest of the batch; in a random order. Model Garden gets the same; with XLA they are padded to 16, 32,
64, 128 or 384 tokens, since each length is compiled. Compiling is in the warm-up, whose seconds are a figure
of their own in the JSON. A step is forward, backward, clipping and AdamW, fused in torch.

Each library has a process of its own; they do some steps in turn, until every record was trained on
`--rounds` times. Examples/s are all records by all seconds. Peak memory is that of the whole process,
libraries included. Where other work runs, `--threads 1` and the examples of a processor's second say more. A
row where a peer is ahead is marked BEHIND; its ratio is that to the best peer. The last line is the geometric
mean of the ratios.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import dataclasses
import datetime
import json
import pathlib
import statistics
import sys
import tempfile

from benchmarks.workers.families import FIRTH, MODEL_GARDENS, TRANSFORMERS, without_model_garden
from benchmarks.workers.finetune_sizes import FineTuneSize
from benchmarks.workers.turns import Worker, started

DATA = pathlib.Path(
    os.environ.get("FIRTH_SHARED_DATA", pathlib.Path(__file__).parents[2] / "shared" / "data")
)
WARM_UP_STEPS, STEPS = 6, 8
# What torch and TensorFlow read.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
# Its questions under the names that they were published with.
SQUAD = {"train-v1.1.json": "squad_v1.1_44articles.json", "dev-v1.1.json": "squad_v1.1_dev_subset.json"}
# By name: the labelled data, the task, and the docstring task where the data are not there.
TASKS = {
    "sst2": (
        {"kind": "published", "format": "sst2", "folder": str(DATA / "glue")},
        {"kind": "classification"},
        "package",
    ),
    "pairs": (
        {
            "kind": "columns",
            "train": str(DATA / "nli" / "mnli_10k_train.csv"),
            "texts": {"text": "premise", "pair": "hypothesis"},
        },
        {"kind": "classification", "pair": True},
        "summary",
    ),
    "tagging": (
        {"kind": "published", "format": "conll2000", "folder": str(DATA / "conll2000"), "eval": "test"},
        {"kind": "tagging"},
        "parameters",
    ),
    "windows": (
        {"kind": "published", "format": "squad", "folder": "{folder}"},
        {"kind": "span"},
        "type",
    ),
}


def steps_of(worker: Worker, steps: int) -> dict[str, float]:
    """Makes some steps; returns their seconds, examples and peak memory."""
    return worker.step("training", "all", steps)


def measure(workers: dict[str, Worker], records: int, rounds: int) -> dict[str, dict[str, float]]:
    """Returns examples/s, tokens/s, peak memory and the seconds of the warm-up of each worker."""
    done: dict[str, list[dict[str, float]]] = {name: [] for name in workers}
    warm_ups = {name: steps_of(worker, WARM_UP_STEPS)["seconds"] for name, worker in workers.items()}
    while any(sum(each["examples"] for each in made) < rounds * records for made in done.values()):
        for name, worker in workers.items():
            done[name].append(steps_of(worker, STEPS))
    return {name: {**_figures(made), "warm_up_seconds": warm_ups[name]} for name, made in done.items()}


def _figures(made: list[dict[str, float]]) -> dict[str, float]:
    seconds = sum(each["seconds"] for each in made)
    return {
        "examples_per_second": sum(each["examples"] for each in made) / seconds,
        "tokens_per_second": sum(each["tokens"] for each in made) / seconds,
        "examples_per_processor_second": sum(each["examples"] for each in made)
        / sum(each["processor_seconds"] for each in made),
        "peak_megabytes": max(each["peak_megabytes"] for each in made),
    }


def compare(name: str, size: FineTuneSize, options) -> dict:
    """Returns the figures of one task by worker, the data, and the versions of the workers."""
    from benchmarks.workers.finetune_data import prepare

    with tempfile.TemporaryDirectory() as folder:
        data, task, docstrings = TASKS[name]
        data = _linked(data, folder)
        described = prepare(
            folder, data, task, docstrings, size, options.records, os.environ.get("FIRTH_MINILM")
        )
        pythons = {FIRTH: sys.executable, TRANSFORMERS: options.torch_python}
        if not _without_model_garden(size):
            pythons |= dict.fromkeys(MODEL_GARDENS, sys.executable)
        commands = {
            worker: (python, [worker, json.dumps(dataclasses.asdict(size)), folder])
            for worker, python in pythons.items()
            if python and worker not in options.without
        }
        with started(commands, module="benchmarks.workers.finetune_work") as workers:
            return {
                "data": described,
                "figures": measure(workers, described["records"], options.rounds),
                "versions": {key: worker.versions for key, worker in workers.items()},
            }


def _without_model_garden(size: FineTuneSize) -> str:
    """Returns the reason why Model Garden is not measured, or nothing."""
    if size.method != "full":
        return f"Model Garden is left out: it has no {size.method}"
    return without_model_garden()


def _linked(data: dict, folder: str) -> dict:
    """Returns the data with the files that they need under other names linked in a folder."""
    if "{folder}" not in data.get("folder", ""):
        return data
    for name, published in SQUAD.items():
        if (DATA / "squad" / published).exists():
            pathlib.Path(folder, name).symlink_to((DATA / "squad" / published).resolve())
    return {**data, "folder": folder}


def line(name: str, result: dict) -> str:
    """Returns a task's row of the table."""
    cells = [
        f"{worker:12} {row['examples_per_second']:6.1f} examples/s"
        f" ({row['examples_per_processor_second']:.1f} a processor's) {row['peak_megabytes']:6,.0f} MB"
        for worker, row in result["figures"].items()
    ]
    ratio = ratio_of(result)
    mark = "" if ratio is None else f" | {ratio:5.2f}x" + ("  BEHIND" if ratio < 1 else "")
    data = result["data"]
    about = f"{data['source']}, {data['records']} records of {data['tokens_per_record']:.1f} tokens"
    return (
        f"{name:8} "
        + " | ".join(cells)
        + mark
        + f"   ({about}; our rows hold {data['padding_share']:.1%} padding)"
    )


def ratio_of(result: dict) -> float | None:
    """Returns how many times as fast as its best peer firth is; None without a peer."""
    speeds = {worker: row["examples_per_second"] for worker, row in result["figures"].items()}
    ours = speeds.pop(FIRTH, None)
    return ours / max(speeds.values()) if ours and speeds else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)}")
    parser.add_argument("--records", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--threads", type=int, help="of each library; all cores if not given")
    parser.add_argument("--without", nargs="*", default=[], metavar="LIBRARY", help="what not to measure")
    parser.add_argument("--torch-python", default=os.environ.get("FIRTH_TORCH_PYTHON"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    for field in dataclasses.fields(FineTuneSize):
        parser.add_argument(f"--{field.name}", type=type(field.default), default=field.default)
    options = parser.parse_args()
    if unknown := sorted(set(options.tasks) - set(TASKS)):
        parser.error(f"unknown task {unknown[0]!r}; there are {', '.join(TASKS)}")
    size = FineTuneSize(
        **{each.name: getattr(options, each.name) for each in dataclasses.fields(FineTuneSize)}
    )
    if options.threads:
        os.environ.update(dict.fromkeys(THREADS, str(options.threads)))
    if not options.torch_python:
        print("transformers is left out: set FIRTH_TORCH_PYTHON to a Python that has torch and transformers")
    if reason := _without_model_garden(size):
        print(reason)
    print(f"{datetime.date.today()}, {os.cpu_count()} cores, {size}", flush=True)
    results = {}
    for name in options.tasks or TASKS:
        results[name] = compare(name, size, options)
        print(line(name, results[name]), flush=True)
        if options.json:
            options.json.write_text(
                json.dumps({"size": dataclasses.asdict(size), "tasks": results}, indent=1)
            )
    ratios = [ratio for each in results.values() if (ratio := ratio_of(each)) is not None]
    if ratios:
        print(f"geometric mean {statistics.geometric_mean(ratios):.2f}x")
    for worker, kept in next(iter(results.values()))["versions"].items():
        print(f"{worker}: " + ", ".join(f"{key} {value}" for key, value in kept.items()))


if __name__ == "__main__":
    main()
