"""`firth schema`: what a text can be held to of a JSON Schema."""

import pathlib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firth.cli import commands
from firth.cli.output import ExitCode, run_quietly
from firth.cli.requests.constraint_options import WhiteSpaceOf, given_constraint

if TYPE_CHECKING:
    from firth.constraints.token_bytes import TokenBytes

File = Annotated[pathlib.Path, typer.Argument(metavar="FILE", help="A JSON Schema.", show_default=False)]
Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        help="A run's name below the root, an imported model's, or a bundle's path: the tokens are its own.",
        show_default=False,
    ),
]


def _schema(
    file: File,
    name: Name = None,
    white_space: WhiteSpaceOf = None,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Says in which ways a text can be held to a schema, and what of it is not supported.

    While a text is written llguidance follows it. An automaton supports less, but it can be a part of a
    SavedModel, and finishes a text within a length.
    """
    constraint = given_constraint(file, None, None, None, white_space)

    def work() -> list[str]:
        return _lines(constraint, None if name is None else _tokens_of(name, root))

    lines = run_quietly(work, "schema", {ValueError: ExitCode.USAGE})
    for line in lines:
        typer.echo(line)
    if all(": no: " in line for line in lines):
        raise typer.Exit(ExitCode.USAGE)


def _tokens_of(name: str, root: pathlib.Path) -> "TokenBytes":
    import os

    from firth.cli.bundles import bundle_of
    from firth.constraints.token_bytes import TokenBytes
    from firth.generation.framing import framing_of
    from firth.models.bundle import read_recipe
    from firth.recipes.run.base import TOKENIZER_FOLDER
    from firth.tokenizers import load_tokenizer

    folder = bundle_of(name, root)
    framing = framing_of(read_recipe(folder), load_tokenizer(os.path.join(folder, TOKENIZER_FOLDER)))
    return TokenBytes.of(framing.tokenizer, framing.may_write, framing.end_id)


def _lines(constraint: Any, tokens: "TokenBytes | None") -> list[str]:
    from firth.constraints.automaton import build_automaton, constraint_regex
    from firth.constraints.compiling import compile_constraint
    from firth.constraints.matcher import ConstraintError
    from firth.constraints.token_automaton import build_token_automaton
    from firth.constraints.token_bytes import SINGLE_BYTES

    found = []
    try:
        compile_constraint(constraint, tokens or SINGLE_BYTES)
        found.append("while a text is written (--schema): yes")
    except ConstraintError as error:
        found.append(f"while a text is written (--schema): no: {error}")
    try:
        automaton = build_automaton(constraint_regex(constraint))
        sizes = f"{automaton.states:,} states, {automaton.size:,} bytes"
        if tokens is not None:
            whole = build_token_automaton(automaton, tokens)
            sets = f"{len(whole.masks):,} sets of tokens" if whole.has_sets else "a trie of tokens"
            sizes = f"{automaton.states:,} states, {sets}, {whole.size:,} bytes"
            sizes += f"; a valid text has {whole.least_tokens:,} tokens or more, its end among them"
        found.append(f"in a SavedModel, and to finish (export --schema, --finish): yes: {sizes}")
    except ConstraintError as error:
        found.append(f"in a SavedModel, and to finish (export --schema, --finish): no: {error}")
    return found


register = commands.registrar(
    "schema",
    _schema,
    "firth schema order.json",
    "firth schema order.json gpt2_tiny",
    "firth schema order.json gpt2_tiny --white-space single",
)
