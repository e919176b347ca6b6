"""Every tiny preset trained on the same docstrings for the same number of tokens, in one table.

    python -m benchmarks.learning                                   # all presets named <family>_tiny
    python -m benchmarks.learning --tokens 200_000 bert_tiny gpt2_tiny --json figures.json

The corpus is made once, with firth's own steps, and kept in --folder. Each model trains in a process of its
own by the recipe's own loop. Bits per byte are those of the main loss on held-out rows over the bytes of the
pieces that it predicts, so that vocabularies of different sizes compare; objectives do not, as each predicts
something else: a masked token is seen from both sides. Next to it are the bits of a unigram model.
`own s` are the seconds that the steps of the preset itself would take at the speed seen, the first one, which
compiles, left out: a tiny preset is to train in a minute on two cores.

States of causal models are checked not to move when a token is changed that they must not see. The last row
is an ELMo with a vocabulary of 300,000 words, which must train within 6 GB.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from benchmarks.blindness import TOLERANCE
from benchmarks.learning_corpus import Corpus, Prepared
from firth.recipes import load_recipe, preset_names
from firth.recipes.run.recipe import Recipe

HEADER = f"{'':18}  parameters  steps bits/byte   unigram     tok/s  own s      MB  blind"
TINY = "_tiny"
LARGE_VOCABULARY = "elmo_small"
WORDS, MEGABYTES, LARGE_STEPS = 300_000, 6_000, 20


def make_recipe(name: str, steps: int, *more: str) -> Recipe:
    """Returns a preset that trains for so many steps, a tenth of them warm-up where it has one."""
    overrides = [f"training.steps={steps}", f"training.checkpoint_every_steps={steps}", *more]
    overrides.append(f"training.log_every_steps={max(steps // 20, 1)}")
    if hasattr(load_recipe(name).training.optimizer, "warmup_steps"):
        overrides.append(f"training.optimizer.warmup_steps={max(steps // 10, 1)}")
    if name == LARGE_VOCABULARY:
        overrides.append(f"tokenizer.vocabulary_size={WORDS}")
    return load_recipe(name, overrides)


def learn(name: str, corpus: Corpus, tokens: int) -> dict:
    """Returns a preset's figures."""
    recipe = load_recipe(name) if name != LARGE_VOCABULARY else make_recipe(name, LARGE_STEPS)
    prepared = corpus.prepare(recipe)
    if name != LARGE_VOCABULARY:
        steps = round(tokens / (recipe.training.batch_size * prepared.tokens_per_row))
        recipe = make_recipe(name, max(steps, 2))
    row = train_apart(recipe, prepared)
    if "error" in row:
        return row
    return row | {"own_seconds": row["seconds_per_step"] * load_recipe(name).training.steps}


def run_recipe(name: str, steps: int, prepared: Prepared, *more: str) -> dict:
    """Returns the figures of a preset that trains for so many steps, with other values."""
    return train_apart(make_recipe(name, steps, *more), prepared)


def train_apart(recipe: Recipe, prepared: Prepared) -> dict:
    """Returns the figures of a training in a process of its own, or its error."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{file}" for file in ("recipe.json", "prepared.json", "run", "figures.json")]
        pathlib.Path(paths[0]).write_text(recipe.to_json())
        pathlib.Path(paths[1]).write_text(json.dumps(prepared))
        command = [sys.executable, "-m", "benchmarks.learning_worker", *paths]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            return {"error": done.stderr.strip().splitlines()[-1] if done.stderr else str(done.returncode)}
        return json.loads(pathlib.Path(paths[3]).read_text())


def problems(name: str, row: dict) -> list[str]:
    """Returns the problems of a preset's figures."""
    if "error" in row:
        return [row["error"]]
    found = []
    if (row["largest_leak"] or 0.0) > TOLERANCE:
        found.append(f"sees what it must not: states moved by {row['largest_leak']:.2g}")
    if name == LARGE_VOCABULARY and row["peak_megabytes"] > MEGABYTES:
        found.append(f"takes more than {MEGABYTES} MB")
    if name != LARGE_VOCABULARY and row["bits_per_byte"] >= row["unigram_bits_per_byte"]:
        found.append("is not better than a unigram model")
    return found


def line(name: str, row: dict) -> str:
    """Returns a preset's row of the table."""
    if "error" in row:
        return f"{name:18} FAILED: {row['error']}"
    blind = "" if row["largest_leak"] is None else "yes" if row["largest_leak"] <= TOLERANCE else "NO"
    return (
        f"{name:18} {row['parameters']:11,} {row['steps']:6} {row['bits_per_byte']:9.3f} "
        f"{row['unigram_bits_per_byte']:9.3f} {row['tokens_per_second']:9,.0f} {row['own_seconds']:6,.0f} "
        f"{row['peak_megabytes']:7,.0f} {blind:>6}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("presets", nargs="*", metavar="PRESET", help="all tiny ones if none")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="to train on")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/benchmarks/learning"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    tiny = [name for name in preset_names() if name.endswith(TINY)]
    corpus = Corpus(options.folder)
    print(f"{options.tokens:,} tokens of docstrings; MB are those of the whole process")
    print(HEADER)
    results, failed = {}, []
    for name in options.presets or [*tiny, LARGE_VOCABULARY]:
        results[name] = learn(name, corpus, options.tokens)
        print(line(name, results[name]), flush=True)
        failed += [f"{name} {problem}" for problem in problems(name, results[name])]
        if options.json:
            options.json.write_text(json.dumps({"tokens": options.tokens, "presets": results}, indent=1))
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
