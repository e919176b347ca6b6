"""The figures that README claims of training, made from every run of `models` that was kept.

    python -m benchmarks.models bert gpt2 t5 --works training --inputs joined --without transformers --keep
    python -m benchmarks.claims            # the table, and README's sentence anew
    python -m benchmarks.claims --check    # fails if the sentence is not what the runs give

A claim needs at least three runs, made hours or machines apart. It is the median of their ratios, with the
lowest and the highest.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import sys
import textwrap

from benchmarks.workers.families import FIRTH, KERAS_HUB

ROOT = pathlib.Path(__file__).parents[1]
RUNS = ROOT / "benchmarks" / "kept" / "models"
TITLES = {"bert": "BERT", "gpt2": "GPT-2", "t5": "T5"}
LEAST_RUNS = 3
# Between these comments README's sentence is written.
BEGIN, END = "<!-- benchmarks.claims -->", "<!-- /benchmarks.claims -->"


@dataclasses.dataclass(frozen=True)
class Claim:
    """Tokens/s of firth in training, float32 and joined text, divided by KerasHub's: one ratio a run."""

    family: str
    ratios: tuple[float, ...]

    def __str__(self) -> str:
        low, high = min(self.ratios), max(self.ratios)
        return f"{TITLES[self.family]} {statistics.median(self.ratios):.2f} ({low:.2f} to {high:.2f})"


def read_claims(folder: pathlib.Path) -> list[Claim]:
    """Returns the claim of each family, from all runs of a folder.

    Raises:
        ValueError: if a family has fewer than three runs.
    """
    claims = []
    for family in TITLES:
        ratios = []
        for path in sorted(folder.glob("*.json")):
            run = json.loads(path.read_text())
            workers = run["families"].get(family, {}).get("figures", {}).get("training", {}).get("joined", {})
            if run["precision"] == "float32" and {FIRTH, KERAS_HUB} <= workers.keys():
                speeds = [workers[name]["tokens_per_second"] for name in (FIRTH, KERAS_HUB)]
                ratios.append(speeds[0] / speeds[1])
        if len(ratios) < LEAST_RUNS:
            raise ValueError(f"{folder}: {family} has {len(ratios)} runs; a claim needs {LEAST_RUNS}")
        claims.append(Claim(family, tuple(ratios)))
    return claims


def sentence(claims: list[Claim]) -> str:
    """Returns the sentence that README has of these claims."""
    runs = {len(claim.ratios) for claim in claims}
    count = f"{min(runs)}" if len(runs) == 1 else f"{min(runs)} to {max(runs)}"
    return (
        "Training on 2 cores in float32, times as fast as KerasHub at its best: "
        f"{', '.join(map(str, claims))}. "
        f"Each is the median of {count} runs, with the lowest and the highest."
    )


def replaced(text: str, new: str) -> str:
    """Returns a text with the sentence between the two comments, indented as they are.

    Raises:
        ValueError: if the text lacks a comment.
    """
    pattern = re.compile(f"( *){re.escape(BEGIN)}.*?{re.escape(END)}", flags=re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"{BEGIN} and {END} are not there once")

    def block(found: re.Match[str]) -> str:
        lines = [BEGIN, *textwrap.wrap(new, 118), END]
        return textwrap.indent("\n".join(lines), found[1])

    return pattern.sub(block, text)


def keep(size: dict, families: dict) -> pathlib.Path:
    """Writes a run of `models` into the folder of runs, named by its time, and returns the file."""
    now = datetime.datetime.now(datetime.timezone.utc)
    run = {
        "date": f"{now:%Y-%m-%d}",
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "precision": size["precision"],
        "size": size,
        "families": families,
    }
    path = RUNS / f"{now:%Y-%m-%dT%H%M}.json"
    path.write_text(json.dumps(run, indent=1) + "\n")
    return path


def _processor() -> str:
    info = pathlib.Path("/proc/cpuinfo")
    names = (
        re.findall(r"^model name\s*: (.*)$", info.read_text(), flags=re.MULTILINE) if info.exists() else []
    )
    return names[0] if names else platform.processor() or platform.machine()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where README differs")
    options = parser.parse_args()
    claims = read_claims(RUNS)
    for claim in claims:
        print(f"{claim}: {', '.join(f'{ratio:.2f}' for ratio in claim.ratios)}")
    readme = ROOT / "README.md"
    found, new = (
        readme.read_text(encoding="utf-8"),
        replaced(readme.read_text(encoding="utf-8"), sentence(claims)),
    )
    if options.check:
        if found != new:
            print("README.md: run `python -m benchmarks.claims`", file=sys.stderr)
        return int(found != new)
    readme.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
