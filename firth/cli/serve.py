"""`firth serve`: a server of exported models, with the APIs of TF Serving and OpenAI; `firth playground`."""

import dataclasses
import logging
import os
import pathlib
import urllib.parse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firth import storage
from firth.cli import commands
from firth.cli.bundles import engine_options
from firth.cli.output import OF_MODELS, ExitCode, fail, packages_hidden, usage_errors
from firth.cli.runs_on_disk import RECIPE_FILE
from firth.lazy import import_extra

if TYPE_CHECKING:
    from firth.serving.server.process import ServerProcess
    from firth.serving.server.sources import ModelSource

_EXTRA = ("grpc", "grpc_health.v1", "prometheus_client", "starlette", "uvicorn")
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="Serve bundles instead of exports, by ctranslate2: texts and replies of OpenAI's API.",
    ),
]
Type = Annotated[
    str | None,
    typer.Option("--dtype", metavar="TYPE", help="With --engine: type of the weights, such as int8."),
]
Names = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME...",
        help="Runs' names below the root, or folders of exported models; MODEL=FOLDER gives one a name.",
        show_default=False,
    ),
]
Host = Annotated[str, typer.Option("--host", help="Address; 0.0.0.0 is reached by other machines too.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port of HTTP; 0 takes a free one.")]
GrpcPort = Annotated[
    int | None,
    typer.Option("--grpc-port", min=0, max=65535, help="Port of gRPC, which is not served without."),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="FIRTH_SERVER_TOKEN",
        show_envvar=True,
        help="Token that every request must bear. The variable keeps it out of the list of processes.",
    ),
]
Certificate = Annotated[
    str | None, typer.Option("--tls-certificate", metavar="FILE", help="Certificate chain in PEM.")
]
Key = Annotated[str | None, typer.Option("--tls-key", metavar="FILE", help="Its private key in PEM.")]


def _limit(flag: str, least: float, meaning: str) -> Any:
    """Returns an option of the panel of limits."""
    return typer.Option(flag, min=least, help=meaning, rich_help_panel="Limits")


BatchRows = Annotated[int, _limit("--batch-rows", 1, "Most rows of a batch.")]
QueuedRows = Annotated[int, _limit("--queued-rows", 1, "Most rows that wait; then 429.")]
QueuedTexts = Annotated[int, _limit("--queued-texts", 1, "Most texts that wait for a slot; then 429.")]
RequestBytes = Annotated[int, _limit("--request-bytes", 1, "Most bytes of a request.")]
RequestSeconds = Annotated[float, _limit("--request-seconds", 0.001, "Most seconds of a request.")]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="MODEL:LABEL=VERSION",
        help="Label of a version, which is served next to the newest; may be given several times.",
    ),
]
ReloadSeconds = Annotated[
    float,
    typer.Option("--reload-seconds", min=0, help="Seconds between two looks for newer versions; 0: none."),
]
DrainSeconds = Annotated[
    float,
    typer.Option(
        "--drain-seconds", min=0, help="Most seconds in which taken requests are finished after SIGTERM."
    ),
]


class _ExtraError(Exception):
    """Packages of the extra that are not installed."""


def _serve(
    names: Names,
    host: Host = "127.0.0.1",
    port: Port = 8501,
    grpc_port: GrpcPort = None,
    token: Token = None,
    tls_certificate: Certificate = None,
    tls_key: Key = None,
    label: Labels = None,
    engine: Engine = None,
    dtype: Type = None,
    batch_rows: BatchRows = 32,
    queued_rows: QueuedRows = 1024,
    queued_texts: QueuedTexts = 256,
    request_bytes: RequestBytes = 4 * 2**20,
    request_seconds: RequestSeconds = 300.0,
    reload_seconds: ReloadSeconds = 5.0,
    drain_seconds: DrainSeconds = 30.0,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Serves exported models until it is interrupted.

    A run that pushes a newer version is followed without a request that fails.
    """
    if dtype is not None and engine is None:
        fail("--dtype: only with --engine; an export has the type of export.weights", ExitCode.USAGE)
    started = start(
        names,
        root,
        labels=label or (),
        engine=engine,
        dtype=dtype,
        host=host,
        port=port,
        grpc_port=grpc_port,
        token=token,
        tls_certificate=tls_certificate,
        tls_key=tls_key,
        max_batch_rows=batch_rows,
        max_queued_rows=queued_rows,
        max_queued_texts=queued_texts,
        max_request_bytes=request_bytes,
        request_seconds=request_seconds,
        reload_seconds=reload_seconds,
        drain_seconds=drain_seconds,
    )
    for model in started.models.names:
        status = started.models.status(model)[0]
        address = f"{started.address}/v1/models/{urllib.parse.quote(model, safe='')}"
        typer.echo(f"{model}: version {status.version}, {address}")
    if started.grpc_port is not None:
        typer.echo(f"gRPC: {host}:{started.grpc_port}")
    typer.echo("Ctrl-C ends it, after the requests that were taken.")
    started.run()


def start(
    names: Sequence[str],
    root: pathlib.Path,
    logs: bool = True,
    labels: Sequence[str] = (),
    engine: str | None = None,
    dtype: str | None = None,
    **settings: object,
) -> "ServerProcess":
    """Returns a server of models that has loaded them; ends the command if it cannot.

    Args:
        names: Names and folders, as of the command.
        root: Folder of all runs.
        logs: Whether a line is written on each request.
        labels: Labels of versions, as of the command.
        engine: Engine of bundles; None for exports.
        dtype: Type of the engine's weights; None for its own.
        **settings: Values of `ServerSettings`.
    """
    try:
        import_extra(_ExtraError, "serve", *_EXTRA)
    except _ExtraError as error:
        fail(str(error))
    sources = [
        _source(name, root) if engine is None else _bundle_source(name, root, engine, dtype) for name in names
    ]
    for source in sources:
        if not source.name.isprintable():
            fail(f"a model's name has characters that cannot be shown: {source.name!a}", ExitCode.USAGE)
        if sum(each.name == source.name for each in sources) > 1:
            fail(f"two models have the name {source.name}; give one another: NAME=FOLDER", ExitCode.USAGE)
    sources = _labelled(sources, labels)
    with packages_hidden(OF_MODELS):
        from firth.serving.server.logs import log_to_stream
        from firth.serving.server.process import ServerError, ServerProcess
        from firth.serving.server.settings import ServerSettings

    # The loader that TF Serving has is deprecated in Python, and says so.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    if logs:
        log_to_stream()
    try:
        return ServerProcess(sources, ServerSettings.model_validate(settings))
    except ServerError as error:
        fail(str(error))


def _labelled(sources: "Sequence[ModelSource]", labels: Sequence[str]) -> "list[ModelSource]":
    """Returns the models with the labels of their versions, which are there."""
    by_name = {each.name: each for each in sources}
    for given in labels:
        name, _, rest = given.rpartition(":")
        label, is_named, version = rest.partition("=")
        if not (name and label and is_named and version.isascii() and version.isdecimal()):
            fail(f"--label: {given} is not MODEL:LABEL=VERSION", ExitCode.USAGE)
        if name not in by_name:
            from firth.recipes.base.errors import suggest

            fail(f"--label: unknown model {name}; {suggest(name, by_name)}", ExitCode.USAGE)
        source = by_name[name]
        if label in source.labels:
            fail(f"--label: {name} has two versions {label}", ExitCode.USAGE)
        source = dataclasses.replace(source, labels={**source.labels, label: int(version)})
        try:
            wanted = source.wanted()
        except FileNotFoundError as error:
            fail(str(error))
        if int(version) not in wanted:
            every = dataclasses.replace(source, newest=0).wanted()
            known = ", ".join(map(str, sorted(every, reverse=True)))
            fail(f"--label: {name} has no version {version}; it has {known}", ExitCode.USAGE)
        by_name[name] = source
    return list(by_name.values())


def _source(given: str, root: pathlib.Path) -> "ModelSource":
    from firth.serving.server.sources import ModelSource

    name, named, path = given.partition("=")
    if not named:
        name, path = "", given
    folder = next(
        (each for each in (root / path, pathlib.Path(path)) if storage.exists(each / RECIPE_FILE)), None
    )
    if folder is not None:
        return ModelSource(name or folder.resolve().name, os.fspath(folder / "serving"))
    if "://" not in path and not storage.is_folder(path):
        from firth.cli.runs_on_disk import find_run

        find_run(root, path)
    own = pathlib.PurePath(os.path.abspath(path) if "://" not in path else path)
    return ModelSource(name or (own.parent.name if own.name == "serving" else own.name), path)


def _bundle_source(given: str, root: pathlib.Path, engine: str, dtype: str | None) -> "ModelSource":
    from firth.generation.engines import check_serving
    from firth.serving.server.sources import BundleSource

    with usage_errors(ValueError):
        check_serving(engine)
    name, named, path = given.partition("=")
    if not named:
        name, path = "", given
    _, options = engine_options(path, root, engine, dtype)
    own = pathlib.PurePath(os.path.abspath(path) if "://" not in path else path)
    name = name or (own.parent.name if own.name == storage.BUNDLE_FOLDER else own.name)
    del options["engine"]
    return BundleSource(name, path, root=os.fspath(root), engine=engine, options=options)


register_serve = commands.registrar(
    "serve",
    _serve,
    "firth serve demo",
    "firth serve gpt2_tiny --engine ctranslate2 --dtype int8",
    "firth serve demo translator=exports/t5 --port 8080 --grpc-port 8500",
    'curl http://127.0.0.1:8501/v1/models/demo:predict -d \'{"inputs": ["Return the [MASK]."]}\'',
)


def _playground(
    names: Names,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser as well.")] = False,
    port: Port = 0,
    token: Token = None,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Serves exported models on this machine, and prints the address of a page that asks them.

    The page has a part for each signature of a model, and one for a model with slots. It is at /playground
    of every server that firth serve starts.
    """
    server = start(names, root, port=port, token=token)
    from firth.serving.server.playground.page import PATH

    address = f"{server.address}{PATH}"
    typer.echo(address)
    typer.echo("Ctrl-C ends it, after the requests that were taken.", err=True)
    if open_page:
        typer.launch(address)
    server.run()


register_playground = commands.registrar(
    "playground", _playground, "firth playground demo", "firth playground demo gpt2_tiny --port 8600 --open"
)
