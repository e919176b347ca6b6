"""`firth playground`: a page that asks a served model."""

from typing import Annotated

import typer

from firth.cli import commands, serve


def _playground(
    names: serve.Names,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser as well.")] = False,
    port: serve.Port = 0,
    token: serve.Token = None,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Serves exported models on this machine, and prints the address of a page that asks them.

    The page has a part for each signature of a model, and one for a model with slots. It is at /playground
    of every server that firth serve starts.
    """
    server = serve.start(names, root, port=port, token=token)
    from firth.serving.server.playground.page import PATH

    address = f"{server.address}{PATH}"
    typer.echo(address)
    typer.echo("Ctrl-C ends it, after the requests that were taken.", err=True)
    if open_page:
        typer.launch(address)
    server.run()


register = commands.registrar(
    "playground", _playground, "firth playground demo", "firth playground demo gpt2_tiny --port 8600 --open"
)
