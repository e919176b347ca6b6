r"""Gain of pre-training: small models pre-trained on the same text, adapted to tasks, and next to them
the same models untrained.

    python -m benchmarks.transfer                                  # a fixed part, about an hour on two cores
    python -m benchmarks.transfer --tasks all --data ../shared/data --records 20000 --ensemble
    python -m benchmarks.transfer --bases BERT GPT --tasks package rte --seeds 3 --json figures.json
    python -m benchmarks.transfer --text english --tasks cola sst2 mrpc rte stsb snli wnut17 conll2000 squad
    python -m benchmarks.transfer --bases BERT --tasks squad --intermediate type
    python -m benchmarks.transfer --bases T5 --tasks summarise xsum cnn_dailymail
    python -m benchmarks.transfer --bases --bundle firth-runs/minilm/bundle --tasks sst2 conll2000 \
        --records 20000 --epochs 1 --rates 1e-4 --seeds 1 --length 64

Each model of a family is pre-trained once, without labels, on the docstrings of this installation, those that
the docstring tasks hold out among them, or by --text on English of --data, of which no task is made; how much
better than a unigram model it is on held-out rows goes to standard error. It, and the same model untrained,
are then adapted to each task: with every rate of --rates and the first seed, and with the better rate and the
other seeds. ELMo's layers are features of the task's own model, as published, and are compared with the word
vectors of skip-gram, trained on the same text, as features of the same model.

Printed are the median over the seeds, the lowest and the highest; of the median seed the bootstrap interval
over the held-out records; and the mean difference, whose interval resamples the held-out records and the
seeds. A task is won where that interval is above zero. Summaries are compared with the first three sentences.

Runs are kept in --folder. A second call makes only those that are missing.
"""

import argparse
import dataclasses
import json
import pathlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.transfer_bases import FAMILIES, PRETRAINED, Start, bundle_starts, learnt, make_starts
from benchmarks.transfer_runs import Cell, CellError
from benchmarks.transfer_scores import chosen, difference, median_run, together, verdict
from benchmarks.transfer_tasks import DEFAULT, TASKS, TransferTask, find
from benchmarks.transfer_texts import DOCSTRINGS, TEXTS, folder_of

TOKENS, RECORDS, EPOCHS = 3_000_000, 500, 10
HEADER = (
    "| model | task | score | start | | next to | | difference | |\n|---|---|---|---|---|---|---|---|---|"
)
LEAD, TOGETHER = "first three sentences", "seeds together"
# Part of the message for a model that cannot read a kind of task; such a run is skipped, not failed.
NOT_TAKEN = "cannot read texts in any form"

Runs = Sequence[Mapping[str, Any]]


class Pair(NamedTuple):
    """A row of the table: the two that are compared, each with its runs of all rates, if it has any."""

    one: str
    runs: Runs
    other: str = ""
    other_runs: Runs = ()

    def figures(self) -> dict[str, Any]:
        """Returns the row's figures."""
        found: dict[str, Any] = {"start": self.one, "figures": figures_of(self.runs)}
        if self.other:
            apart = difference(chosen(self.runs), chosen(self.other_runs))
            found |= {"next_to": self.other, "next_figures": figures_of(self.other_runs)}
            found |= {"difference": apart._asdict(), "verdict": verdict(apart)}
        return found


def figures_of(made: Runs) -> dict[str, Any]:
    """Returns the figures of the runs with the best rate; the processor's seconds are those of all runs."""
    runs = chosen(made)
    middle, values = median_run(runs), [run["value"] for run in runs]
    return {
        "score": middle["score"],
        "rate": middle.get("rate"),
        "seeds": len(values),
        "median": middle["value"],
        "lowest": min(values),
        "highest": max(values),
        "low": middle["low"],
        "high": middle["high"],
        "records": len(middle["answers"]),
        "processor_seconds": round(sum(run.get("processor_seconds", 0) for run in made), 1),
    }


def shown(figures: Mapping[str, Any]) -> str:
    """Returns figures for the table."""
    spread = f" ({figures['lowest']:.3f}–{figures['highest']:.3f} of {figures['seeds']})"
    over = spread if figures["seeds"] > 1 else ""
    return f"{figures['median']:.3f}{over} [{figures['low']:.3f}, {figures['high']:.3f}]"


def line(base: str, name: str, row: Mapping[str, Any]) -> str:
    """Returns a row of the table."""
    if "error" in row:
        return f"| {base} | {name} | – | {row['start']} | {row['error']} | | | | |"
    cells = [base, name, row["figures"]["score"], row["start"], shown(row["figures"])]
    if "next_to" not in row:
        return f"| {' | '.join(cells)} | – | | | |"
    apart = row["difference"]
    cells += [row["next_to"], shown(row["next_figures"])]
    cells.append(f"{apart['value']:+.3f} [{apart['low']:+.3f}, {apart['high']:+.3f}]")
    return f"| {' | '.join(cells)} | {row['verdict']} |"


def pairs_of(
    name: str, starts: Mapping[str, Start], options: argparse.Namespace, task: TransferTask
) -> Iterator[Pair]:
    """Yields what is compared of a model and a task.

    Raises:
        CellError: if a run could not be made.
    """
    cell = _cell(starts[PRETRAINED], task, options)
    runs = cell.made()
    others = [start for start in starts if start != PRETRAINED]
    for start in others:
        yield Pair(PRETRAINED, runs, start, _cell(starts[start], task, options).made())
    if lead := cell.lead():
        yield Pair(PRETRAINED, runs, LEAD, [lead])
    elif not others:
        yield Pair(PRETRAINED, runs)
    if options.ensemble and len(chosen(runs)) > 1 and (joined := together(chosen(runs))):
        yield Pair(f"{PRETRAINED}, {TOGETHER}", [joined], PRETRAINED, runs)
    if options.intermediate and options.intermediate != name:
        first = find(options.intermediate, options.data, options.folder)
        if first and first.task == task.task:
            adapted = _after(_cell(starts[PRETRAINED], first, options), starts[PRETRAINED])
            then = _cell(adapted, task, options).made()
            yield Pair(f"{PRETRAINED}, then {options.intermediate}", then, PRETRAINED, runs)


def _cell(start: Start, task: TransferTask, options: argparse.Namespace) -> Cell:
    count = options.seeds if task.is_small or options.all_seeds else 1
    return Cell(
        start,
        task.data,
        task.task,
        {"epochs": options.epochs, "sequences.length": min(task.length, options.length)},
        options.rates,
        list(range(1, count + 1)),
        options.records,
        options.held_out,
        options.folder.resolve(),
    )


def _after(cell: Cell, start: Start) -> Start:
    """Returns a start from the model that a cell adapts with the first seed and rate."""
    first = dataclasses.replace(cell, rates=cell.rates[:1], seeds=cell.seeds[:1])
    kept = str(cell.folder / f"adapted-{first.name}")
    dataclasses.replace(first, kept=kept).made()
    return start._replace(bundle=kept)


def starts_of(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, Start]]]:
    """Yields what models start from, by the name of the model."""
    for path in options.bundle:
        bundle = pathlib.Path(path).resolve()
        yield bundle.parent.name, bundle_starts(bundle, options.folder)
    for name in options.bases:
        sources = TEXTS[options.text].sources(options.data.resolve())
        starts = make_starts(name, folder_of(options.folder, options.text), options.tokens, sources)
        print(told(name, learnt(starts[PRETRAINED].bundle)), file=sys.stderr, flush=True)
        yield name, starts


def told(name: str, figures: Mapping[str, float]) -> str:
    """Returns a line that says whether a model learnt anything in pre-training."""
    return (
        f"{name}: {figures['steps']:,} steps, {figures['tokens']:,} tokens in {figures['processor_seconds']} "
        f"processor seconds; held out {figures['bits_per_byte']:.3f} bits a byte, "
        f"{figures['unigram_bits_per_byte']:.3f} by a unigram model"
    )


def rows_of(
    name: str, starts: Mapping[str, Start], options: argparse.Namespace, task: TransferTask
) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table for a model and a task, the last of which may be an error."""
    try:
        for pair in pairs_of(name, starts, options, task):
            yield pair.figures()
    except CellError as error:
        start = "not a task of this model" if NOT_TAKEN in str(error) else "failed"
        yield {"start": start, "error": str(error)}


def seconds_of(rows: Sequence[Mapping[str, Any]]) -> float:
    """Returns the processor seconds of all runs in a table, in which each row has those of its model."""
    own: dict[tuple[str, ...], float] = {}
    for row in rows:
        for name, figures in (("start", "figures"), ("next_to", "next_figures")):
            if figures in row:
                own[row["model"], row["task"], row[name]] = row[figures]["processor_seconds"]
    return sum(own.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bases", nargs="*", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--bundle", action="append", default=[], help="one more model")
    parser.add_argument("--tasks", nargs="+", default=list(DEFAULT), choices=["all", *TASKS])
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data"))
    parser.add_argument("--text", choices=TEXTS, default=DOCSTRINGS, help="to pre-train on")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="to pre-train on")
    parser.add_argument("--records", type=int, default=RECORDS, help="most records to train on")
    parser.add_argument("--held-out", type=int, default=1_000, help="most records to score")
    parser.add_argument("--length", type=int, default=128, help="most tokens of a row")
    parser.add_argument("--epochs", type=float, default=EPOCHS)
    parser.add_argument("--rates", type=float, nargs="+", default=[1e-3, 3e-3], help="learning rates to try")
    parser.add_argument("--seeds", type=int, default=5, help="of small tasks")
    parser.add_argument("--all-seeds", action="store_true", help="several seeds of large tasks too")
    parser.add_argument("--ensemble", action="store_true", help="also what all seeds say together")
    parser.add_argument("--intermediate", choices=TASKS, help="also models adapted to this task before")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/benchmarks/transfer"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    wanted = list(TASKS) if "all" in options.tasks else options.tasks
    options.folder.mkdir(parents=True, exist_ok=True)
    present = {name: task for name in wanted if (task := find(name, options.data, options.folder))}
    about = TEXTS[options.text].about
    print(
        f"{options.tokens:,} tokens to pre-train on, {about}; at most {options.records:,} records to adapt to"
    )
    print(f"left out, since their files are not there: {', '.join(set(wanted) - set(present)) or 'none'}")
    print(f"\n{HEADER}", flush=True)
    found: list[dict[str, Any]] = []
    for base, starts in starts_of(options):
        for name, task in present.items():
            for row in rows_of(name, starts, options, task):
                found.append({"model": base, "task": name, **row})
                print(line(base, name, row), flush=True)
                if options.json:
                    options.json.write_text(json.dumps(found, indent=1))
    for other in dict.fromkeys(row["next_to"] for row in found if "next_to" in row):
        told = [row["verdict"] for row in found if row.get("next_to") == other]
        counts = ", ".join(f"{told.count(each)} {each}" for each in dict.fromkeys(told))
        print(f"\n{PRETRAINED} next to {other}: {counts}")
    print(f"\n{seconds_of(found):,.0f} processor seconds of adapting, runs that were kept among them")
    return 1 if any(row["start"] == "failed" for row in found) else 0


if __name__ == "__main__":
    sys.exit(main())
