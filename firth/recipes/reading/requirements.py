"""Files and packages that a recipe needs on this machine, and warnings about a recipe that can run."""

import os
from collections.abc import Iterator

from firth import storage
from firth.recipes.base.file_names import NamedFile, files_of, is_remote, named_files, suggest_path
from firth.recipes.base.yaml_text import Path
from firth.recipes.corpus.sources import COMPRESSIONS, ENDINGS, AnySource
from firth.recipes.reading.bases import BASE
from firth.recipes.reading.bundles import NoBundleError, check_bundle, digest_of_bundle
from firth.recipes.reading.raw_recipes import RawRecipe
from firth.recipes.run.packages import find_package, suggest_package
from firth.recipes.run.recipe import Recipe

# A share that is so many times as large as asked for is worth a warning.
FAR = 2.0
SINGLE_DOCUMENT = "a single document cannot be both trained on and held out"


def missing(recipe: Recipe, raw: RawRecipe) -> list[str]:
    """Returns a line for each file or package that the recipe names and this machine does not have.

    Example:

    >>> from firth.recipes.reading.loading import load_with_places
    >>> option = "sources.0.packages=[jsn]"
    >>> missing(*load_with_places("bert_tiny", [option]))[0].removeprefix(f"--set {option}: ")
    "sources.0.packages.0: no package 'jsn' is installed; did you mean 'json'?"
    """
    lines = [(file.key, problem) for file in named_files(recipe) if (problem := _file_problem(file))]
    lines += _missing_packages(recipe)
    lines += _missing_base(recipe)
    return [f"{raw.origin(key).place}: {'.'.join(key)}: {problem}" for key, problem in lines]


def too_few_documents(recipe: Recipe, raw: RawRecipe) -> list[str]:
    """Returns a line if the sources are local files of a single document, which cannot be split."""
    if len(document_sizes(recipe)) != 1:
        return []
    key = ("sources", "0")
    advice = "give more files, or documents: blank_line"
    return [f"{raw.origin(key).place}: {'.'.join(key)}: {SINGLE_DOCUMENT}; {advice}"]


def _file_problem(file: NamedFile) -> str:
    """Returns the reason why a file cannot be read; empty if it can, or if only Beam can find out."""
    pattern = file.pattern
    if is_remote(pattern) or (file.mark.is_folder and os.path.isdir(pattern)):
        return ""
    advice = suggest_path(pattern) or f"; the working directory is {os.getcwd()}"
    if file.mark.is_folder:
        return f"there is no folder {pattern}{advice}"
    files = files_of(pattern, file.mark)
    if not files and os.path.isdir(pattern):
        return f"{pattern} is a folder; name files, as in {os.path.join(pattern, '*')}"
    if not files:
        return f"{pattern} matches no file{advice}"
    unreadable = [path for path in files if not os.access(path, os.R_OK)]
    return f"{unreadable[0]} cannot be read: permission denied" if unreadable else ""


def _missing_packages(recipe: Recipe) -> Iterator[tuple[Path, str]]:
    for key, source in _sources(recipe):
        for index, package in enumerate(source.installed_packages):
            if problem := _package_problem(package):
                yield (*key, "packages", str(index)), problem


def _missing_base(recipe: Recipe) -> Iterator[tuple[Path, str]]:
    """Yields why the base is not the one that the recipe was read with, which a stored recipe names."""
    if recipe.base is None or not storage.is_folder(recipe.base.bundle):
        return
    try:
        check_bundle(recipe.base.bundle)
    except NoBundleError as error:
        yield (BASE, "bundle"), str(error)
        return
    if digest_of_bundle(recipe.base.bundle) != recipe.base.digest:
        changed = f"{recipe.base.bundle} is another bundle than the recipe was read with"
        yield (BASE, "digest"), f"{changed}; `base: PATH`, without a digest, starts from it"


def _sources(recipe: Recipe) -> Iterator[tuple[Path, AnySource]]:
    for number, source in enumerate(recipe.sources):
        yield ("sources", str(number)), source
    for place, step in enumerate(recipe.cleaning.steps):
        for key, sources in step.further_sources.items():
            for number, source in enumerate(sources):
                yield ("cleaning", "steps", str(place), key, str(number)), source


def _package_problem(package: str) -> str:
    spec = find_package(package)
    if spec is None:
        return f"no package {package!r} is installed{suggest_package(package)}"
    # Modules of C code, and those within the interpreter.
    if spec.submodule_search_locations is None and not (spec.origin or "").endswith(".py"):
        return f"package {package!r} has no .py file"
    return ""


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
