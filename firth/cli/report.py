"""`firth report`: prints or opens the page of a run."""

from typing import Annotated

import typer

from firth.cli import commands
from firth.cli.output import fail
from firth.cli.runs_on_disk import find_run


def _report(
    run: commands.RunName,
    open_page: Annotated[bool, typer.Option("--open", help="Open it in the browser as well.")] = False,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Prints the path of a run's report, one self-contained HTML page."""
    found = find_run(root, run)
    if found.imported_from:
        fail(f"{found.directory} is an imported model, which has no report")
    if found.report is None and found.is_finished:
        fail(f"{found.directory} has no report; its scores are in {found.directory / 'run.json'}")
    if found.report is None:
        fail(f"{found.directory} has no report yet: {found.state}. Run the same command again to finish it.")
    typer.echo(found.report)
    if open_page:
        typer.launch(found.report.resolve().as_uri())


register = commands.registrar("report", _report, "firth report demo", "firth report demo --open")
