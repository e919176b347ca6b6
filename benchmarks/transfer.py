"""What pre-training is worth: small models pre-trained on the same text, adapted to tasks, next to untrained.

    python -m benchmarks.transfer                                  # a fixed part, about an hour on two cores
    python -m benchmarks.transfer --tasks all --data ../shared/data --records 20000
    python -m benchmarks.transfer --bases BERT GPT --tasks package rte --seeds 3 --json figures.json
    python -m benchmarks.transfer --bundle firth-runs/minilm/bundle --tasks sst2 conll2000 --bases

Each model of a family is pre-trained once on the docstrings of this installation. It, and the same model
untrained, are then adapted to each task: with every rate of --rates and the first seed, and with the better
rate and the other seeds. Printed are the median over the seeds, the lowest and the highest; and of the median
seed the bootstrap interval over the held-out records. A task is won where the intervals do not overlap.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

from benchmarks.learning_corpus import Corpus
from benchmarks.transfer_bases import FAMILIES, PRETRAINED, UNTRAINED, make_bases
from benchmarks.transfer_tasks import DEFAULT, TASKS, find


def cell(row: dict) -> str:
    """Returns a row's figures for the table."""
    if "error" in row:
        return f"failed: {row['error']}"
    over = f" ({row['lowest']:.3f}–{row['highest']:.3f} of {row['seeds']})" if row["seeds"] > 1 else ""
    return f"{row['median']:.3f}{over} [{row['low']:.3f}, {row['high']:.3f}]"


def verdict(rows: dict[str, dict]) -> str:
    """Returns which start is better by more than the intervals."""
    if UNTRAINED not in rows or any("error" in row for row in rows.values()):
        return "–"
    trained, untrained = rows[PRETRAINED], rows[UNTRAINED]
    if trained["low"] > untrained["high"]:
        return "won"
    return "LOST" if trained["high"] < untrained["low"] else "not told apart"


def summary(runs: list[dict]) -> dict:
    """Returns the figures of the runs with the better rate: over seeds, and of the median seed."""
    (headline,) = {run["headline"] for run in runs}
    first = min(run["seed"] for run in runs)
    best = max((run for run in runs if run["seed"] == first), key=lambda run: run["scores"][headline])
    chosen = [run for run in runs if run["rate"] == best["rate"]]
    values = {run["seed"]: run["scores"][headline] for run in chosen}
    median = statistics.median_low(values.values())
    middle = next(run for run in chosen if run["scores"][headline] == median)
    return {
        "score": headline,
        "rate": best["rate"],
        "seeds": len(values),
        "median": median,
        "lowest": min(values.values()),
        "highest": max(values.values()),
        "deviation": statistics.stdev(values.values()) if len(values) > 1 else 0.0,
        "low": middle["scores"][f"{headline}_low"],
        "high": middle["scores"][f"{headline}_high"],
    }


def adapt(bundle: str, name: str, options: argparse.Namespace) -> dict:
    """Returns the figures of a bundle on a task; the runs are those of a process of their own."""
    task = find(name, options.data, options.folder)
    seeds = options.seeds if task.is_small or options.all_seeds else 1
    described = {
        "bundle": bundle,
        "data": dict(task.data),
        "task": dict(task.task),
        "more": {"epochs": options.epochs, "sequences.length": task.length},
        "rates": options.rates,
        "seeds": list(range(1, seeds + 1)),
        "records": options.records,
        "folder": str(options.folder / "tasks"),
    }
    command = [sys.executable, "-m", "benchmarks.transfer_worker", json.dumps(described)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [str(done.returncode)])[-1]}
    return summary([json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")])


def bases_of(options: argparse.Namespace) -> dict[str, dict[str, str]]:
    """Returns the bundles by the name of the model and by how they start."""
    corpus = Corpus(options.folder / "corpus")
    made = {name: make_bases(name, corpus, options.folder, options.tokens) for name in options.bases}
    return made | {pathlib.Path(path).parent.name: {PRETRAINED: path} for path in options.bundle}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bases", nargs="*", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--bundle", action="append", default=[], help="one more model")
    parser.add_argument("--tasks", nargs="+", default=list(DEFAULT), choices=["all", *TASKS])
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data"))
    parser.add_argument("--tokens", type=int, default=1_000_000, help="to pre-train on")
    parser.add_argument("--records", type=int, default=2_000, help="most records to train on")
    parser.add_argument("--epochs", type=float, default=5)
    parser.add_argument("--rates", type=float, nargs="+", default=[3e-4, 1e-3], help="learning rates to try")
    parser.add_argument("--seeds", type=int, default=5, help="of small tasks")
    parser.add_argument("--all-seeds", action="store_true", help="several seeds of large tasks too")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/benchmarks/transfer"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    wanted = list(TASKS) if "all" in options.tasks else options.tasks
    options.folder.mkdir(parents=True, exist_ok=True)
    present = [name for name in wanted if find(name, options.data, options.folder)]
    print(f"{options.tokens:,} tokens to pre-train on; at most {options.records:,} records to adapt to")
    print(f"left out, since their files are not there: {', '.join(set(wanted) - set(present)) or 'none'}")
    print(f"\n| model | task | score | {PRETRAINED} | {UNTRAINED} | |\n|---|---|---|---|---|---|", flush=True)
    figures, failed = {}, False
    for base, bundles in bases_of(options).items():
        for name in present:
            rows = {start: adapt(path, name, options) for start, path in bundles.items()}
            figures[f"{base} {name}"] = rows
            failed = failed or any("error" in row for row in rows.values())
            cells = [cell(rows[start]) if start in rows else "–" for start in (PRETRAINED, UNTRAINED)]
            score = rows[PRETRAINED].get("score", "–")
            print(f"| {base} | {name} | {score} | {' | '.join(cells)} | {verdict(rows)} |", flush=True)
            if options.json:
                options.json.write_text(json.dumps(figures, indent=1))
    told = [verdict(rows) for rows in figures.values()]
    print("\n" + ", ".join(f"{told.count(each)} {each}" for each in dict.fromkeys(told)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
