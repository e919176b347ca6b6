"""What runs a model that the command asks, where it is not the exported one."""

import pathlib
from typing import Annotated, Any

import typer

from firth.cli.output import ExitCode, fail

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


def opened_by(
    name: str, root: pathlib.Path, engine: str | None, dtype: str | None
) -> tuple[str, dict[str, Any]]:
    """Returns the folder of a model and how an engine opens it, as arguments of `load_generator`.

    Ends the command with the nearest name if the model or the engine does not exist. Loads no TensorFlow.
    """
    from firth.cli.bundles import bundle_of
    from firth.generation.engines import ENGINES, check_engine, engine_of

    try:
        if engine is not None:
            check_engine(engine)
        folder = bundle_of(name, root) if engine_of(name) == next(iter(ENGINES)) else name
    except ValueError as error:
        fail(str(error), ExitCode.USAGE)
    chosen = engine or engine_of(folder)
    return folder, {"engine": chosen, **({} if dtype is None else {ENGINES[chosen].option: dtype})}
