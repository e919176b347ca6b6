"""What an exported model describes of itself, read before TensorFlow is loaded."""

import json
import os
import pathlib
import shlex
from typing import Any

import typer

from firth.cli import commands
from firth.cli.output import fail


def described(directory: pathlib.Path) -> dict[str, Any]:
    """Returns the description of the newest model in a folder, or ends the command if there is no model."""
    from firth.serving.description import read_description
    from firth.serving.versions import NoModelError, newest_model

    try:
        return read_description(newest_model(os.fspath(directory)))
    except (NoModelError, ValueError) as error:
        fail(str(error))


def print_listing(directory: pathlib.Path, run: str, root: pathlib.Path, as_json: bool) -> None:
    """Prints what a model answers: each signature with its inputs, parameters and outputs, and a request."""
    from firth.cli.summary import ask_with
    from firth.serving.descriptions.listing import listing, weights_line

    description = described(directory)
    if as_json:
        parts = ("signatures", "other_signatures")
        typer.echo(json.dumps({part: description[part] for part in parts}, ensure_ascii=False))
        return
    if not description["signatures"]:
        fail(f"{directory}: another program exported the model, and nothing describes its signatures")
    for line in listing(description):
        typer.echo(line)
    if weights := description.get("weights"):
        typer.echo(f"Its weights: {weights_line(weights)}.")
    place = "" if root == commands.DEFAULT_ROOT else f" --root {shlex.quote(str(root))}"
    typer.echo(
        f"A row has {description['row_length']} tokens, special ones included. An answer about a longer "
        "text says how much was read."
    )
    for asked in ask_with(description["signatures"]):
        typer.echo(f"  firth predict {shlex.quote(run)}{place} {asked}")
