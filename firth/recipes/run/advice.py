"""Warnings about a recipe that can run as it is."""

import os

from firth.recipes.base.file_names import files_of, is_remote
from firth.recipes.corpus.sources import COMPRESSIONS, ENDINGS
from firth.recipes.run.recipe import Recipe

# A share that is so many times as large as asked for is worth a warning.
FAR = 2.0
SINGLE_DOCUMENT = "a single document cannot be both trained on and held out"


def notices(recipe: Recipe) -> list[str]:
    """Returns one line for each choice that works but is rarely meant.

    Example:

    >>> from firth.recipes import load_recipe
    >>> notices(load_recipe("bert_base", ["training.steps=5000"]))
    ['training.optimizer.warmup_steps: 10,000 is not below training.steps: 5,000, so the learning rate ...']
    """
    return [*_on_sources(recipe), *_on_cleaning(recipe), *_on_split(recipe), *_on_training(recipe)]


def _on_sources(recipe: Recipe) -> list[str]:
    return [
        f"source {source.name}: {path} is read as {source.kind}; its name says kind: {ENDINGS[ending]}"
        for source in recipe.sources
        for path in source.reads
        if (ending := _ending(path)) in ENDINGS and ENDINGS[ending] != source.kind
    ]


def _ending(path: str) -> str:
    stem, ending = os.path.splitext(path)
    return os.path.splitext(stem)[1] if ending in COMPRESSIONS else ending


def _on_cleaning(recipe: Recipe) -> list[str]:
    if not any(step.mojibake for step in recipe.cleaning.normalizations):
        return []
    return [
        "cleaning.steps: normalize repairs mojibake, which a graph cannot, so the served model reads text as "
        "it is sent"
    ]


def _on_split(recipe: Recipe) -> list[str]:
    """Warns if a single document is far larger than the part that is to be held out."""
    sizes = document_sizes(recipe)
    asked, total = recipe.cleaning.split.eval_fraction, sum(sizes)
    if not sizes or len(sizes) * asked * FAR >= 1:
        return []
    finer = "More files, or documents: blank_line,"
    if len(sizes) == 1:
        return [f"cleaning.split.eval_fraction: {SINGLE_DOCUMENT}. {finer} are needed"]
    return [
        f"cleaning.split.eval_fraction: {asked:g} of {len(sizes)} documents is less than one; at least one "
        f"is held out, which is {min(sizes) / total:.2g} to {max(sizes) / total:.2g} of the bytes. "
        f"{finer} make the share finer"
    ]


def document_sizes(recipe: Recipe) -> list[int]:
    """Returns the bytes of each document, where all of them are local files; otherwise nothing."""
    if not all(source.documents_are_files for source in recipe.sources):
        return []
    patterns = [os.path.expanduser(pattern) for source in recipe.sources for pattern in source.reads]
    if any(is_remote(pattern) for pattern in patterns):
        return []
    paths = {path for pattern in patterns for path in files_of(pattern)}
    # An empty file is not a document.
    return [size for path in paths if (size := os.path.getsize(path))]


def _on_training(recipe: Recipe) -> list[str]:
    training, found = recipe.training, []
    optimizer, steps = training.optimizer, training.steps
    warmup = optimizer.warmup_steps
    if warmup >= steps and optimizer.schedule.climbs:
        peak = optimizer.learning_rate * steps / warmup
        found.append(
            f"training.optimizer.warmup_steps: {warmup:,} is not below training.steps: {steps:,}, "
            f"so the learning rate peaks at {peak:.3g}"
        )
    return found
