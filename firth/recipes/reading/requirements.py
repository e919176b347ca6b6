"""The files and packages that a recipe needs on this machine."""

import os
from collections.abc import Iterator

from firth import storage
from firth.recipes.base.file_names import NamedFile, files_of, is_remote, named_files, suggest_path
from firth.recipes.base.yaml_text import Path
from firth.recipes.corpus.sources import AnySource
from firth.recipes.reading.bases import BASE
from firth.recipes.reading.bundles import NoBundleError, check_bundle, digest_of_bundle
from firth.recipes.reading.raw_recipes import RawRecipe
from firth.recipes.run.advice import SINGLE_DOCUMENT, document_sizes
from firth.recipes.run.packages import find_package, suggest_package
from firth.recipes.run.recipe import Recipe


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
