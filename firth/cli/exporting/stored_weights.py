"""`firth export --weights`: a SavedModel of a run whose weights are stored in another type."""

import pathlib
from typing import Any

import typer

from firth.cli.output import ExitCode
from firth.cli.quietly import quietly


def export_as(name: str, weights: str, place: str, root: pathlib.Path) -> None:
    """Writes a SavedModel, and prints its size and what the model loses on held-out rows of the run."""
    from firth.serving.descriptions.listing import weights_line

    def work() -> dict[str, Any]:
        from firth.cli.bundles import bundle_of
        from firth.pipelines.results import held_out_rows
        from firth.serving.bundle import export_stored
        from firth.serving.storing.loss import HELD_OUT_ROWS

        rows = held_out_rows(root / name, HELD_OUT_ROWS)
        return export_stored(bundle_of(name, root), place, weights, rows)

    described = quietly(work, "export", {ValueError: ExitCode.USAGE})
    typer.echo(f"{place}: a SavedModel; weights: {weights_line(described)}")
    typer.echo(f"To ask it: firth predict {place}")
