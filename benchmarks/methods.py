r"""Each method of adapting a model, on the same base and data: what it trains, its cost, and its score.

    python -m benchmarks.methods                                   # BERT of one's own on docstring tasks
    python -m benchmarks.methods --bases BERT GPT T5 --tasks package parameters --methods full head lora
    python -m benchmarks.methods --bases --bundle firth-runs/minilm/bundle --tasks sst2 rte stsb wnut17

Bases are those of `benchmarks.transfer`, pre-trained once and kept in --folder, and bundles. A method is
tried with each of --rates and the first seed, and trained with the best of them and the other seeds. What a
method adds takes higher rates than weights that are there, which --added-rates state; a method with a rate of
its own, as prompts and prefixes have, is tried with that one too. --rate lora=1e-2 states that of one method.
Its other values are the recipe's defaults.

Printed are the parameters that are trained, the head's among them; the peak memory of the process, libraries
included; examples/s without the first steps, median of the seeds; the score's median over the seeds with the
lowest and the highest; of the median seed the bootstrap interval over the held-out records; and the mean
difference from `full` with its interval over records and seeds. A row that is a point or more below `full`
is marked BELOW. Runs are kept in --folder; a run that is kept is not made again.

Speed and memory next to peft on torch: python -m benchmarks.finetune --method lora
"""

import argparse
import json
import pathlib
import statistics
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.transfer import Runs, figures_of, shown
from benchmarks.transfer_bases import FAMILIES, PRETRAINED, Start, make_starts
from benchmarks.transfer_runs import Cell, CellError
from benchmarks.transfer_scores import chosen, difference
from benchmarks.transfer_tasks import TASKS, TransferTask, find
from benchmarks.transfer_texts import DOCSTRINGS, TEXTS
from firth.recipes.base.errors import suggest
from firth.recipes.tuning.methods import method_types
from firth.tuning import METHODS

BASELINE, TASKS_BY_DEFAULT = "full", ("package", "parameters", "summary")
# What has no default in a recipe.
STATED: dict[str, dict[str, Any]] = {"last_layers": {"method.layers": 1}}
POINT = 0.01
HEADER = (
    "| model | task | method | trained | memory | examples/s | score | | next to full | |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def cells_of(start: Start, task: TransferTask, options: argparse.Namespace) -> Iterator[tuple[str, Cell]]:
    """Yields the cell of each method; that of the baseline is the first."""
    for name in sorted(options.methods, key=lambda each: each != BASELINE):
        more = {"epochs": options.epochs, "sequences.length": min(task.length, options.length)}
        more |= {"method.kind": name, **STATED.get(name, {})}
        seeds = list(range(1, options.seeds + 1))
        yield (
            name,
            Cell(
                start,
                task.data,
                task.task,
                more,
                rates_of(name, options),
                seeds,
                options.records,
                options.held_out,
                options.folder.resolve(),
            ),
        )


def rates_of(name: str, options: argparse.Namespace) -> list[float]:
    """Returns the rates to try with a method: its own, or those of all with its recipe's default."""
    if stated := [rate for each, rate in options.rate if each == name]:
        return stated
    method = method_types()[name]
    rates = options.added_rates if method.adds else options.rates
    own = [] if method.learning_rate is None else [method.learning_rate]
    return list(dict.fromkeys([*rates, *own]))


def method_rate(said: str) -> tuple[str, float]:
    """Returns the method and the learning rate of a text such as `lora=1e-2`."""
    name, _, rate = said.partition("=")
    if name not in METHODS:
        raise argparse.ArgumentTypeError(f"{said}: {suggest(name, METHODS)}")
    return name, float(rate)


def row_of(cell: Cell, baseline: Runs) -> tuple[dict[str, Any], Runs]:
    """Returns a method's figures and its runs."""
    made = cell.made()
    runs = chosen(made)
    # A run of few steps has no speed.
    timed = [run["examples_per_second"] for run in runs if run["examples_per_second"]]
    found: dict[str, Any] = figures_of(made) | {
        "trained": runs[0]["trained"],
        # A process makes all runs, and holds more of them the longer it runs.
        "peak_megabytes": runs[0]["peak_megabytes"],
        "examples_per_second": statistics.median(timed) if timed else None,
    }
    if baseline:
        apart = difference(runs, baseline)
        found |= {"difference": apart._asdict(), "is_below": apart.value <= -POINT}
    return found, runs


def line(names: tuple[str, str, str], row: Mapping[str, Any]) -> str:
    """Returns a row of the table."""
    if "error" in row:
        return f"| {' | '.join(names)} | not for this model or task: {row['error']} | | | | | | |"
    cells = [*names, f"{row['trained']:,}", f"{row['peak_megabytes']:,.0f} MB"]
    speed = row["examples_per_second"]
    cells += ["–" if speed is None else f"{speed:.0f}", row["score"], f"{shown(row)} at {row['rate']:g}"]
    if "difference" in row:
        apart = row["difference"]
        cells.append(f"{apart['value']:+.3f} [{apart['low']:+.3f}, {apart['high']:+.3f}]")
        cells.append("BELOW" if row["is_below"] else "")
    else:
        cells += ["", ""]
    return f"| {' | '.join(cells)} |"


def rows_of(
    start: Start, task: TransferTask, options: argparse.Namespace
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the figures of each method, or why it could not be run."""
    baseline: Runs = ()
    for name, cell in cells_of(start, task, options):
        try:
            figures, runs = row_of(cell, baseline)
        except CellError as error:
            yield name, {"error": str(error)}
            continue
        baseline = runs if name == BASELINE else baseline
        yield name, figures


def starts_of(options: argparse.Namespace) -> Iterator[tuple[str, Start]]:
    """Yields the bases by name."""
    for path in options.bundle:
        yield pathlib.Path(path).parent.name, Start(str(pathlib.Path(path).resolve()))
    for name in options.bases:
        sources = TEXTS[DOCSTRINGS].sources(options.data)
        yield name, make_starts(name, options.folder, options.tokens, sources)[PRETRAINED]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bases", nargs="*", default=["BERT"], choices=list(FAMILIES))
    parser.add_argument("--bundle", action="append", default=[], help="one more model")
    parser.add_argument("--tasks", nargs="+", default=list(TASKS_BY_DEFAULT), choices=list(TASKS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data"))
    parser.add_argument("--tokens", type=int, default=3_000_000, help="to pre-train a base on")
    parser.add_argument("--records", type=int, default=500, help="most records to train on")
    parser.add_argument("--held-out", type=int, default=1_000, help="most records to score")
    parser.add_argument("--length", type=int, default=128, help="most tokens of a row")
    parser.add_argument("--epochs", type=float, default=10)
    parser.add_argument("--rates", type=float, nargs="+", default=[3e-4, 1e-3, 3e-3, 1e-2])
    parser.add_argument(
        "--added-rates", type=float, nargs="+", help="of methods that add something, if others"
    )
    parser.add_argument(
        "--rate",
        action="append",
        default=[],
        type=method_rate,
        metavar="METHOD=RATE",
        help="a rate of one method, in the place of these; may be repeated",
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/benchmarks/transfer"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    options.added_rates = options.added_rates or options.rates
    options.folder.mkdir(parents=True, exist_ok=True)
    print(HEADER, flush=True)
    found: list[dict[str, Any]] = []
    for base, start in starts_of(options):
        for name in options.tasks:
            task = find(name, options.data, options.folder)
            if task is None:
                print(f"{name} is left out, since its files are not there", file=sys.stderr)
                continue
            for method, row in rows_of(start, task, options):
                found.append({"model": base, "task": name, "method": method, **row})
                print(line((base, name, method), row), flush=True)
                if options.json:
                    options.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
