"""Bundles and adapters that a command is given by name or by path, and the engines that run them."""

import pathlib
from typing import Annotated, Any

import typer

from firth.cli.output import ExitCode, fail, note, run_quietly, terminal, usage_errors

EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="What runs the model: keras, or ctranslate2, which is made of the bundle once and kept.",
    ),
]
DType = Annotated[
    str | None,
    typer.Option(
        "--dtype",
        metavar="TYPE",
        help="How numbers are kept, such as bfloat16; with --engine ctranslate2 such as int8.",
    ),
]


def bundle_of(given: str, root: pathlib.Path) -> str:
    """Returns the folder of a bundle.

    Raises:
        firth.recipes.reading.bundles.NoBundleError: if there is no such bundle, with the nearest name.
    """
    from firth.recipes.reading.bundles import locate_bundle

    return locate_bundle(given, str(root))


def import_base(path: str, root: str) -> str | None:
    """Returns the bundle of a base that is another library's folder; draws the import, and notes it."""
    from firth.cli.import_weights import drawing_import
    from firth.interop.bases import find_foreign
    from firth.recipes.reading.bundles import NoBundleError

    found = find_foreign(path, root)
    if found is None or found.is_imported:
        return None if found is None else found.bundle

    def work() -> list[str] | NoBundleError:
        try:
            return found.import_it()
        except NoBundleError as error:
            # The recipe's reader adds the place of the base.
            return error

    with drawing_import(terminal(err=True)):
        made = run_quietly(work, "import", {})
    if isinstance(made, NoBundleError):
        raise made
    for each in made:
        note(each)
    return found.bundle


def adapter_of(given: str, root: pathlib.Path) -> str:
    """Returns the folder of an adapter."""
    from firth import storage
    from firth.recipes.reading.bundles import NoBundleError
    from firth.recipes.reading.method_sources import adapter_next_to, is_adapter
    from firth.recipes.run.base import ADAPTER_FILE

    if is_adapter(given):
        return given
    try:
        bundle = bundle_of(given, root)
    except NoBundleError as error:
        if not storage.is_folder(given):
            raise
        problem = f"{given} is not an adapter: it lacks {ADAPTER_FILE}; nor is it a run"
        raise NoBundleError(f"{problem}: {error}") from error
    return adapter_next_to(bundle)


def new_run_folder(root: pathlib.Path, name: str) -> pathlib.Path:
    """Returns the folder of a new name among the runs. Ends the command for one that is taken."""
    from firth import storage
    from firth.recipes.base.names import check_folder_name

    try:
        check_folder_name(name)
    except ValueError as error:
        fail(f"--name: {error}", ExitCode.USAGE)
    place = root / name
    if storage.exists(place) or storage.is_folder(place):
        fail(f"{place} already exists; give another --name", ExitCode.USAGE)
    return place


def engine_options(
    name: str, root: pathlib.Path, engine: str | None, dtype: str | None
) -> tuple[str, dict[str, Any]]:
    """Returns the folder of a model, and the arguments of `load_generator` for its engine.

    Ends the command with the nearest name if the model or the engine does not exist. Loads no TensorFlow.
    """
    from firth.generation.engines import ENGINES, check_engine, engine_of

    with usage_errors(ValueError):
        if engine is not None:
            check_engine(engine)
        folder = bundle_of(name, root) if engine_of(name) == next(iter(ENGINES)) else name
    chosen = engine or engine_of(folder)
    return folder, {"engine": chosen, **({} if dtype is None else {ENGINES[chosen].option: dtype})}
