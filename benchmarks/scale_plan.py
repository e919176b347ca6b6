"""A plan on paper: a crawl of 100 TB at the rate of cleaning, and trainings on named accelerators."""

import argparse
import pathlib
from typing import Any

from benchmarks import scale_corpus
from firth.recipes import load_recipe
from firth.recipes.counting import memory_bytes, parameter_counts, training_flops_per_step
from firth.recipes.counting.accelerators import ACCELERATORS

CRAWL_BYTES, CORES = 100e12, (100, 1_000, 10_000)
DAY = 24 * 3600
PRESETS = ("gpt2_small", "gpt2_medium", "gpt2_large", "gpt2_xl", "llama_3_2_1b", "llama_3_1_8b")
# Tokens for each parameter of a training that spends its operations best (Hoffmann et al. 2022).
TOKENS_PER_PARAMETER = 20
# What a device holds whole where nothing is sharded.
STATE = ("weights", "gradients", "moments")


def compute(options: argparse.Namespace, scratch: pathlib.Path) -> dict[str, Any]:
    """Prints both plans and returns the figures."""
    rate = options.megabytes
    if rate is None:
        options.workers = [1]
        corpus = scale_corpus.measure(options, scratch)
        rate = corpus["bytes"] / corpus["seconds"][1] / 1e6
    return {"crawl": _crawl(rate), "training": _trainings(options.utilisation)}


def _crawl(rate: float) -> dict[str, Any]:
    core_days = CRAWL_BYTES / (rate * 1e6) / DAY
    print(f"\n{CRAWL_BYTES / 1e12:.0f} TB at {rate:.2f} MB/s a core are {core_days:,.0f} days of a core:")
    for cores in CORES:
        print(f"  {cores:6,} cores: {core_days / cores:,.1f} days, if the speed grows as their number does")
    return {"megabytes_per_second": rate, "core_days": core_days}


def _trainings(utilisation: float) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    print(f"\n{TOKENS_PER_PARAMETER} tokens a parameter, {utilisation:.0%} of the peak in bfloat16; days:\n")
    print(f"| preset | parameters | tokens | state, GB | {' | '.join(ACCELERATORS)} |")
    print("|---" * (4 + len(ACCELERATORS)) + "|")
    for name in PRESETS:
        rows[name] = row = _training(name, utilisation)
        cells = [
            f"{days:,.1f}" if row["state_bytes"] < ACCELERATORS[device].memory else f"{days:,.1f}, sharded"
            for device, days in row["days"].items()
        ]
        print(
            f"| {name} | {row['parameters']:,} | {row['tokens'] / 1e9:.1f} billion | "
            f"{row['state_bytes'] / 1e9:.1f} | {' | '.join(cells)} |"
        )
    return rows


def _training(name: str, utilisation: float) -> dict[str, Any]:
    recipe = load_recipe(name)
    parameters = parameter_counts(recipe)["total_with_heads"]
    memory, tokens = memory_bytes(recipe), TOKENS_PER_PARAMETER * parameters
    of_step = recipe.training.batch_size * recipe.sequences.length
    operations = training_flops_per_step(recipe) / of_step * tokens
    days = {
        each.name: operations / (utilisation * each.rates["mixed_bfloat16"]) / DAY
        for each in ACCELERATORS.values()
    }
    state = sum(memory[part] for part in STATE)
    return {"parameters": parameters, "tokens": tokens, "state_bytes": state, "days": days}
