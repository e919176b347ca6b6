"""`firth predict`: asks a run's served model."""

import json
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from firth.cli import commands
from firth.cli.output import ExitCode, fail
from firth.cli.quietly import quietly
from firth.cli.runs_on_disk import RunOnDisk, find_run


class _Unaskable(Exception):
    """A text that a signature cannot be asked about."""


def _predict(
    run: commands.RunName,
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help="fill-mask, embed, score or another signature of the model.",
            show_default=False,
        ),
    ],
    texts: Annotated[
        list[str], typer.Argument(metavar="TEXT", help="One or more texts.", show_default=False)
    ],
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="For score: text that follows each text; once for each text."),
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="For pairs: the second text of each text; once for each text."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one object a text.")] = False,
    root: commands.Root = commands.DEFAULT_ROOT,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show what TensorFlow prints.")] = False,
) -> None:
    r"""Asks the newest blessed model of a run.

    What it can be asked depends on its recipe: pieces for each `\[MASK]`, a vector for each text, how
    probable a text is (alone, or as the target of another one), or the answer of a task.
    """
    others = {name: given for name, given in (("target", target), ("pair", pair)) if given}
    for option, given in others.items():
        if len(given) != len(texts):
            fail(f"--{option} is given once for each text", ExitCode.USAGE)
    from firth.serving.answers import lines

    name = task.replace("-", "_")
    described, answers = _ask(_model_directory(root, run), name, texts, others, verbose)
    for text, answer in zip(texts, answers):
        if as_json:
            typer.echo(json.dumps({"text": text, **answer}, ensure_ascii=False))
        else:
            typer.echo("\n  ".join([text, *lines(described, answer)]))


def _model_directory(root: pathlib.Path, run: str) -> pathlib.Path:
    if (pathlib.Path(run) / "saved_model.pb").exists():
        return pathlib.Path(run)
    found = find_run(root, run)
    serving = found.directory / "serving"
    if (note := _note(found, serving)) is not None:
        typer.echo(note, err=True)
    return serving


def _note(run: RunOnDisk, serving: pathlib.Path) -> str | None:
    """Returns a warning where the last run is not the one whose model answers."""
    from firth.pipelines.blessing import newest_version

    served, pushed = newest_version(serving), run.summary.get("pushed") if run.is_finished else None
    if served is None or (pushed is not None and pathlib.Path(pushed).name == served.name):
        return None
    last = f"its model is {pushed}" if pushed is not None else f"it is {run.state}"
    reasons = "; ".join(run.summary.get("reasons", ())) if run.is_finished and pushed is None else ""
    because = f" ({reasons})" if reasons else ""
    return f"note: {served} answers, which another run pushed. Of the last run: {last}{because}"


def _ask(
    directory: pathlib.Path, name: str, texts: Sequence[str], others: Mapping[str, list[str]], verbose: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Loads the model with TensorFlow's noise in a file, which stays only if something fails."""
    if verbose:
        try:
            return _answers(directory, name, texts, others)
        except _Unaskable as error:
            fail(str(error), ExitCode.USAGE)
    expected = {
        _Unaskable: ExitCode.USAGE,
        FileNotFoundError: ExitCode.FAILED,
        ValueError: ExitCode.FAILED,
    }
    return quietly(lambda: _answers(directory, name, texts, others), "predict", expected)


def _answers(
    directory: pathlib.Path, name: str, texts: Sequence[str], others: Mapping[str, list[str]]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Returns how the signature's answers are printed, and what is told of each."""
    from firth.serving.lean_import import without_optional_packages

    with without_optional_packages():
        from firth.serving import Client
        from firth.serving.answers import told
        from firth.serving.client import newest_model
        from firth.serving.description import read_description
    path = newest_model(os.fspath(directory))
    signature = read_description(path)["signatures"].get(name, {})
    lacking = [text for text in texts if signature.get("needs", "") not in text]
    if lacking:
        raise _Unaskable(f"there is no {signature['needs']} in {lacking[0]!r}")
    answer = signature.get("answer", {})
    return answer, [told(answer, outputs) for outputs in Client(path).ask(name, texts, **others)]


register = commands.registrar(
    "predict",
    _predict,
    "firth predict demo fill-mask 'Returns the [MASK] of the array.'",
    "firth predict demo embed 'A sentence.' 'Another one.' --json",
    "firth predict gpt2_tiny score 'Returns the length of the list.'",
    "firth predict my_reviews classify 'A film to see twice.'",
    "firth predict my_entities tag 'Ada Lovelace wrote to London.'",
    "firth predict t5_tiny score 'Returns <extra_id_0> list.' --target '<extra_id_0> the'",
)
