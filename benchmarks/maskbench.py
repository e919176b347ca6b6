"""Schemas of MaskBench with valid and invalid instances: what is refused, and what is let through.

    python -m benchmarks.maskbench DATA                       # maskbench/data of guidance-ai/jsonschemabench
    python -m benchmarks.maskbench DATA --sample 500 --way automaton

The data state no licence, so this repository does not contain them. A schema is `refused` (named as
unsupported), has `valid refused` (an instance that is valid cannot be written), `invalid accepted` (one
that is not can), or passes. Instances are compact JSON with the properties in the order of the file. Next
to it are the figures that the benchmark publishes of other engines, which ignore keywords that no draft has.
The process ends with 1 if an invalid instance is accepted.
"""

import argparse
import collections
import datetime
import json
import pathlib
import random
import sys
import time

from firth.constraints.automaton import build_automaton, constraint_regex
from firth.constraints.compiling import compile_constraint
from firth.constraints.matcher import ConstraintError
from firth.constraints.token_bytes import SINGLE_BYTES
from firth.recipes.generation.constraints import JsonSchema

# The table of maskbench/README.md. Schemas that crashed an engine or took too long are refused ones.
PUBLISHED = {
    "LLGuidance 0.7.10": {"passes": 8909, "refused": 2377, "valid refused": 20, "invalid accepted": 0},
    "XGrammar 0.1.17": {"passes": 8122, "refused": 368, "valid refused": 1408, "invalid accepted": 1368},
    "llama.cpp 0.3.8": {"passes": 6505, "refused": 1302, "valid refused": 2850, "invalid accepted": 649},
    "Outlines 0.2.3": {"passes": 7050, "refused": 2021, "valid refused": 1415, "invalid accepted": 822},
}


def run_time(schema):
    """Returns a function that says whether a text is let through while it is written."""
    compiled = compile_constraint(JsonSchema(json_schema=schema), SINGLE_BYTES)

    def accepts(text: bytes) -> bool:
        matcher = compiled.new_matcher(len(text) + 1)
        try:
            for byte in text:
                matcher.accept(byte)
        except ConstraintError:
            return False
        return matcher.complete

    return accepts


def automaton(schema):
    """Returns a function that says whether an automaton lets a text through."""
    return build_automaton(constraint_regex(JsonSchema(json_schema=schema))).accepts


WAYS = {"run time": run_time, "automaton": automaton}


def outcome(way, schema, instances) -> tuple[str, str]:
    """Returns the outcome of a schema, and the reason or the instance that shows it."""
    try:
        accepts = way(schema)
    except ValueError as error:
        return "refused", str(error)
    worst = ("passes", "")
    for each in instances:
        text = json.dumps(each["data"], ensure_ascii=False, separators=(",", ":"))
        try:
            is_accepted = accepts(text.encode())
        except UnicodeEncodeError:
            continue
        if is_accepted and not each["valid"]:
            return "invalid accepted", text
        if each["valid"] and not is_accepted:
            worst = ("valid refused", text)
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=pathlib.Path, metavar="DATA", help="folder with the JSON files")
    parser.add_argument("--way", choices=[*WAYS], default="run time")
    parser.add_argument("--sample", type=int, help="so many schemas, drawn with a seed, instead of all")
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    parser.add_argument("--show", type=int, default=5, help="examples of each outcome to print")
    options = parser.parse_args()
    files = sorted(options.data.glob("*.json"))
    if not files:
        parser.error(f"{options.data} has no JSON files")
    if options.sample:
        files = sorted(random.Random(0).sample(files, min(options.sample, len(files))))
    counts, seconds, examples = collections.Counter(), [], collections.defaultdict(list)
    for number, path in enumerate(files):
        content = json.loads(path.read_text())
        began = time.perf_counter()
        found, why = outcome(WAYS[options.way], content["schema"], content.get("tests", []))
        seconds.append(time.perf_counter() - began)
        counts[found] += 1
        examples[found].append(f"{path.stem}: {why[:160]}")
        if sys.stderr.isatty():
            print(f"\r{number + 1:,} of {len(files):,}", end="", file=sys.stderr)
    for found in ("invalid accepted", "valid refused", "refused"):
        for each in examples[found][: options.show]:
            print(f"{found}: {each}")
    seconds.sort()
    figures = {
        "date": str(datetime.date.today()),
        "way": options.way,
        "schemas": len(files),
        "outcomes": {
            name: counts[name] for name in ("passes", "refused", "valid refused", "invalid accepted")
        },
        "milliseconds_a_schema": {
            "mean": round(1e3 * sum(seconds) / len(seconds), 2),
            "p99": round(1e3 * seconds[int(0.99 * (len(seconds) - 1))], 2),
        },
        "published": PUBLISHED,
    }
    print(json.dumps(figures, indent=1))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    sys.exit(bool(counts["invalid accepted"]))


if __name__ == "__main__":
    main()
