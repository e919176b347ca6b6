"""`firth export`: models for other libraries."""

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from firth.cli import commands
from firth.cli.output import ExitCode, fail, run_quietly, usage_errors
from firth.cli.requests.constraint_options import read_given
from firth.interop.formats import FORMATS, Format, Written

_WRITABLE = {each.name: each for each in FORMATS.values() if each.writes}
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A run's name below the root, an imported model's, or a bundle's path.",
        show_default=False,
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option("--format", help=f"What is written: {', '.join(_WRITABLE)}.", show_default=False),
]
AdapterNames = Annotated[
    list[str] | None,
    typer.Option(
        "--adapter",
        metavar="[NAME=]ADAPTER",
        help="Instead of a format: an adapter of the model, by its folder or the run that trained it. "
        "Give several: one SavedModel answers with them, and its input `adapter` names one for each text.",
        show_default=False,
    ),
]
WeightsName = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="TYPE",
        help="Instead of a format: the type that a SavedModel stores its weights in, float32, bfloat16 "
        "or int8. What the model loses by it is measured on held-out rows of the run.",
        show_default=False,
    ),
]
SchemaFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--schema",
        metavar="NAME=FILE",
        help="Instead of a format: a JSON Schema that becomes a part of a SavedModel, whose signature "
        "generate_NAME writes JSON that is valid by it on any server. May be given several times, and with "
        "--weights.",
        show_default=False,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="DIR",
        help="Folder to write, which must not exist yet; NAME-FORMAT, NAME-TYPE, NAME-adapters or "
        "NAME-schemas if it is not given.",
    ),
]
Chosen = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="; ".join(
            f"for {each.name}: {name}, {meaning}"
            for each in _WRITABLE.values()
            for name, meaning in each.options.items()
        )
        + ".",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the subcommand."""
    examples = commands.epilog(
        *(f"firth export gpt2_tiny --format {name}" for name in _WRITABLE),
        f"firth export firth-runs/minilm/bundle --format {next(iter(_WRITABLE))} --output mine",
        "firth export gpt2_tiny --weights int8",
        "firth export gpt2_tiny --schema order=order.json --schema answer=answer.json",
        "firth export minilm --adapter films=minilm_sst2 --adapter topics=adapters/topics",
    )
    app.command("export", epilog=examples)(_export)


def _export(
    name: Name,
    format: FormatName = None,
    adapter: AdapterNames = None,
    weights: WeightsName = None,
    schema: SchemaFiles = None,
    output: Output = None,
    option: Chosen = None,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Writes a trained or an imported model in another library's format, or as another SavedModel."""
    from firth.recipes.base.errors import suggest

    if sum(map(bool, (format, adapter, weights or schema))) != 1:
        fail("give one of --format, --weights, --schema and --adapter (once or more)", ExitCode.USAGE)
    if option and format is None:
        fail("--option goes with --format", ExitCode.USAGE)
    if format is not None and format not in _WRITABLE:
        fail(f"--format: there is no format {format!r}; {suggest(format, _WRITABLE)}", ExitCode.USAGE)
    from firth import storage

    place = (
        output
        or f"{pathlib.PurePath(name).name}-{format or weights or ('schemas' if schema else 'adapters')}"
    )
    if storage.exists(place) or storage.is_folder(place):
        fail(f"{place} already exists; give another --output", ExitCode.USAGE)
    if wrong := [each for each in option or () if "=" not in each]:
        fail(f"--option {wrong[0]}: expected KEY=VALUE", ExitCode.USAGE)
    if weights is not None or schema:
        export_stored_weights(name, weights, _schemas(schema or []), place, root)
    elif format is None:
        _export_adapters(name, adapter or [], place, root)
    else:
        _export_format(
            name, _WRITABLE[format], place, dict(each.split("=", 1) for each in option or ()), root
        )


def _export_format(
    name: str, format: Format, place: str, options: dict[str, str], root: pathlib.Path
) -> None:
    from firth.cli.bundles import bundle_of
    from firth.interop.errors import InteropError
    from firth.recipes.reading.bundles import NoBundleError

    def work() -> Written:
        return format.export_model(bundle_of(name, root), place, **options)

    expected: dict[type[Exception], ExitCode] = {
        InteropError: ExitCode.USAGE,
        NoBundleError: ExitCode.USAGE,
    }
    written = run_quietly(work, "export", expected)
    for note in written.notes:
        typer.echo(note)
    for path in written.files:
        typer.echo(os.path.join(place, path))
    typer.echo(f"To load it: {format.use.format(folder=place)}")


def _export_adapters(name: str, adapters: list[str], place: str, root: pathlib.Path) -> None:
    from firth.cli.bundles import adapter_of, bundle_of

    named = [_named(each) for each in adapters]
    names = [each for each, _ in named]
    if twice := [each for each in names if names.count(each) > 1]:
        fail(f"--adapter: two adapters are named {twice[0]}; write NAME=ADAPTER", ExitCode.USAGE)

    def work() -> str:
        from firth.recipes.run.base import TOKENIZER_FOLDER
        from firth.serving.adapter_export import export_adapters
        from firth.tokenizers import load_tokenizer
        from firth.tuning import load_adapters

        bundle = bundle_of(name, root)
        loaded = load_adapters({each: adapter_of(given, root) for each, given in named}, bundle)
        export_adapters(loaded, load_tokenizer(os.path.join(bundle, TOKENIZER_FOLDER)), place)
        return loaded[names[0]][1].task.signature

    signature = run_quietly(work, "export", {ValueError: ExitCode.USAGE})
    typer.echo(f"{place}: a SavedModel whose signature {signature} reads `adapter`: {', '.join(names)}")
    typer.echo(f"To ask it: firth predict {place} {signature.replace('_', '-')} TEXT --adapter {names[0]}")


def _named(given: str) -> tuple[str, str]:
    """Returns the name of an adapter, and where it is: `NAME=ADAPTER`, or the last part of where it is."""
    name, equals, place = given.partition("=")
    if not equals or "/" in name:
        name, place = pathlib.PurePath(given).name, given
    if not name:
        fail(f"--adapter {given}: the adapter has no name; write NAME=ADAPTER", ExitCode.USAGE)
    return name, place


def _schemas(given: Sequence[str]) -> dict[str, Any]:
    """Returns the schemas of `NAME=FILE` by name."""
    from firth.constraints.schemas import parse_schema

    found: dict[str, Any] = {}
    for each in given:
        name, equals, path = each.partition("=")
        if not equals or not name:
            fail(f"--schema {each}: expected NAME=FILE", ExitCode.USAGE)
        if name in found:
            fail(f"--schema: two schemas are named {name}", ExitCode.USAGE)
        with usage_errors(ValueError):
            found[name] = parse_schema(read_given(pathlib.Path(path)), path)
    return found


def export_stored_weights(
    name: str, weights: str | None, schemas: Mapping[str, Any], place: str, root: pathlib.Path
) -> None:
    """Writes a SavedModel, and prints its size and its loss of quality on held-out rows of the run."""
    from firth.serving.exported_model import weights_line

    def work() -> dict[str, Any]:
        from firth.cli.bundles import bundle_of
        from firth.pipelines.results import held_out_rows
        from firth.serving.bundle import export_stored
        from firth.serving.stored_weights.weights import HELD_OUT_ROWS

        rows = held_out_rows(root / name, HELD_OUT_ROWS) if weights else []
        given = {"weights": weights, "schemas": schemas}
        settings = {key: value for key, value in given.items() if value}
        return export_stored(bundle_of(name, root), place, rows, **settings)

    described = run_quietly(work, "export", {ValueError: ExitCode.USAGE})
    typer.echo(f"{place}: a SavedModel; weights: {weights_line(described['weights'])}")
    for each, sizes in described.get("schemas", {}).items():
        typer.echo(
            f"generate_{each}: {sizes['states']:,} states, {sizes['bytes']:,} bytes; a valid text has "
            f"{sizes['least_tokens']:,} tokens or more; {sizes['checked_strings']:,} texts were checked"
        )
    typer.echo(f"To ask it: firth predict {place}")
