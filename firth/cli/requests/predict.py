"""`firth predict`: asks a run's served model."""

import json
import os
import pathlib
import shlex
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from firth.cli import commands
from firth.cli.bundles import DType, EngineName, engine_options
from firth.cli.output import OF_MODELS, ExitCode, fail, packages_hidden, run_quietly
from firth.cli.requests.files import Quoted, check_quoted, predict_records
from firth.cli.requests.request_options import InputsCommand, as_list, given_inputs, inputs_for
from firth.cli.requests.running_server import AskServer, served_answers
from firth.cli.runs_on_disk import RunOnDisk, find_run


class _Unaskable(Exception):
    """A text that a signature cannot be asked about."""


Input = Annotated[
    str | None,
    typer.Option(
        "--input",
        metavar="FILE",
        help="File of texts instead of TEXT: a csv, tsv or jsonl file, by columns, a file of tagged words, "
        "such as .conll, or a txt file, a line each.",
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter",
        metavar="NAME=NUMBER",
        help="How texts are written, such as temperature=0.8, max_new_tokens=20 or seed=1; once for each "
        "parameter.",
    ),
]
Output = Annotated[str | None, typer.Option("--output", metavar="FILE", help="Answers to --input, as jsonl.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="INPUT=COLUMN",
        help="Column of --input for an input of the signature, such as text=review; without it that of the "
        "training data, or of the input's name. May be given several times.",
    ),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="Data set whose task the records of --input are of, for a model that learned several tasks from "
        "text to text: each text is asked about after the prefix of this task.",
    ),
]


def _predict(
    ctx: typer.Context,
    run: commands.RunName,
    task: Annotated[
        str | None,
        typer.Argument(
            metavar="[TASK]",
            help="A signature of the model, such as fill-mask or embed; without it all are listed.",
            show_default=False,
        ),
    ] = None,
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="One or more texts.", show_default=False)
    ] = None,
    parameters: Parameters = None,
    input: Input = None,
    output: Output = None,
    columns: Columns = None,
    quoted: Quoted = None,
    source: Source = None,
    ask_server: AskServer = True,
    engine: EngineName = None,
    dtype: DType = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one object a text.")] = False,
    root: commands.Root = commands.DEFAULT_ROOT,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show what TensorFlow prints.")] = False,
) -> None:
    """Asks the newest blessed model of a run, or lists its signatures.

    The signatures depend on its recipe. A signature that reads more than one text has an option for
    each further input, by its name, once for each text: --pair, --target, --question, or --choices with ' | '
    between them or as a list of JSON.
    """
    given = given_inputs(ctx)
    if task is None:
        if given or input is not None or output is not None:
            fail("give a TASK; without options they are listed", ExitCode.USAGE)
        print_listing(_found(run, root)[1], run, root, as_json)
        return
    _check_options(texts, given, input, output, columns)
    check_quoted(quoted, input)
    if source is not None and input is None:
        fail(
            "--source makes the prompts of the records of --input; "
            "a TEXT is asked as it is, so begin it with the prefix of its task",
            ExitCode.USAGE,
        )
    numbers = _numbers(parameters or (), input)
    name = task.replace("-", "_")
    if engine is not None or dtype is not None:
        if input is not None or given or numbers:
            fail("--engine answers texts of the command, without further inputs", ExitCode.USAGE)
        _print(texts or [], *_ask_engine(run, root, name, texts or [], engine, dtype, verbose), as_json)
        return
    found, directory = _found(run, root)
    for each in [] if found is None else notes(found, directory, name):
        typer.echo(each, err=True)
    if input is not None and output is not None:
        predict_records(directory, name, input, output, columns or [], verbose, quoted, source or "")
        return
    signature = described(directory)["signatures"].get(name, {})
    others = inputs_for(given, signature, len(texts or ()))
    # Where the first input of a signature is a list, each text of the command is split into a list.
    between = signature.get("lists", {}).get(next(iter(signature.get("inputs", {})), ""), "")
    asked = [as_list(each, between) if between else each for each in texts or ()]
    given_all = {**others, **numbers}
    served = (
        served_answers(directory, name, asked, given_all)
        if ask_server and _is_askable(asked, signature)
        else None
    )
    if served is None:
        _print(texts or [], *_ask(directory, name, asked, given_all, verbose), as_json)
        return
    from firth.serving.answers import printed_fields

    answer = signature.get("answer", {})
    _print(texts or [], answer, [printed_fields(answer, each) for each in served], as_json)


def _is_askable(texts: Sequence[Any], signature: Mapping[str, Any]) -> bool:
    """Returns whether all texts have the piece that a signature needs."""
    return all(signature.get("needs", "") in text for text in texts)


def _found(run: str, root: pathlib.Path) -> tuple[RunOnDisk | None, pathlib.Path]:
    """Returns a run and the folder of its models; no run for the path of a model."""
    if (pathlib.Path(run) / "saved_model.pb").exists():
        return None, pathlib.Path(run)
    found = find_run(root, run)
    return found, found.directory / "serving"


def _print(
    texts: Sequence[str], described: Mapping[str, Any], answers: Sequence[Mapping[str, Any]], as_json: bool
) -> None:
    from firth.serving.answers import answer_lines

    for text, answer in zip(texts, answers):
        if as_json:
            typer.echo(json.dumps({"text": text, **answer}, ensure_ascii=False))
        else:
            typer.echo("\n  ".join([text, *answer_lines(described, answer)]))


def _numbers(parameters: Sequence[str], input: str | None) -> dict[str, Any]:
    """Returns the argument of the client for parameters as they are given; nothing for none."""
    if parameters and input is not None:
        fail("--parameter goes with a TEXT, not with --input", ExitCode.USAGE)
    given = dict(each.split("=", 1) for each in parameters if "=" in each)
    try:
        if len(given) < len(parameters):
            raise ValueError
        values = {
            name: float(value) if set(value) & set(".eE") else int(value) for name, value in given.items()
        }
    except ValueError:
        fail("--parameter is given as NAME=NUMBER, once for each parameter", ExitCode.USAGE)
    return {"parameters": values} if values else {}


def _check_options(
    texts: Sequence[str] | None,
    others: Mapping[str, list[str]],
    input: str | None,
    output: str | None,
    columns: Sequence[str] | None,
) -> None:
    """Ends the command unless either texts are given, or a file to read and one to write."""
    if input is None and output is None:
        if not texts:
            fail("give a TEXT, or files with --input and --output", ExitCode.USAGE)
        if columns:
            fail("--column names a column of --input", ExitCode.USAGE)
    elif input is None or output is None:
        fail("--input and --output are given together", ExitCode.USAGE)
    elif texts or others:
        fail("--input holds all texts; give none in the command", ExitCode.USAGE)


def _ask(
    directory: pathlib.Path, name: str, texts: Sequence[Any], others: Mapping[str, Any], verbose: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Loads the model with TensorFlow's noise in a file, which stays only if something fails."""
    expected = {_Unaskable: ExitCode.USAGE, FileNotFoundError: ExitCode.FAILED, ValueError: ExitCode.FAILED}
    return run_quietly(lambda: _answers(directory, name, texts, others), "predict", expected, verbose)


def _ask_engine(
    run: str,
    root: pathlib.Path,
    name: str,
    texts: Sequence[str],
    engine: str | None,
    dtype: str | None,
    verbose: bool,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Asks the bundle of a run by an engine, instead of the exported model."""
    folder, opening = engine_options(run, root, engine, dtype)

    def work() -> tuple[dict[str, Any], list[dict[str, Any]]]:
        from firth.serving.bundle import ask_served, load_served

        return ask_served(load_served(folder, **opening), name, texts)

    return run_quietly(work, "predict", {ValueError: ExitCode.USAGE}, verbose)


def _answers(
    directory: pathlib.Path, name: str, texts: Sequence[Any], others: Mapping[str, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Returns how the signature's answers are printed, and the fields of each answer."""
    with packages_hidden(OF_MODELS):
        from firth.serving import Client
        from firth.serving.answers import printed_fields
        from firth.serving.exported_model import newest_model
    client = Client(newest_model(os.fspath(directory)))
    signature = client.description["signatures"].get(name, {})
    lacking = [text for text in texts if signature.get("needs", "") not in text]
    if lacking:
        raise _Unaskable(f"there is no {signature['needs']} in {lacking[0]!r}")
    answer = signature.get("answer", {})
    return answer, [printed_fields(answer, outputs) for outputs in client.ask(name, texts, **others)]


register = commands.registrar(
    "predict",
    _predict,
    "firth predict demo fill-mask 'Returns the [MASK] of the array.'",
    "firth predict demo",
    "firth predict demo embed 'A sentence.' 'Another one.' --json",
    "firth predict demo embed 'A sentence.' --engine ctranslate2 --dtype int8",
    "firth predict gpt2_tiny score 'Returns the length of the list.'",
    "firth predict gpt2_tiny generate 'Returns the' --parameter temperature=0.8 --parameter seed=1",
    "firth predict my_reviews classify 'A film to see twice.'",
    "firth predict my_entities tag 'Ada Lovelace wrote to London.'",
    "firth predict my_entities tag --input test.conll --output tags.jsonl",
    "firth predict three_tasks generate --input new.csv --output answers.jsonl --source cola",
    "firth predict my_answers answer 'Who wrote?' --pair 'Ada Lovelace wrote to London.'",
    "firth predict my_reviews classify --input new.csv --output answers.jsonl --column text=review",
    "firth predict t5_tiny score 'Returns <extra_id_0> list.' --target '<extra_id_0> the'",
    cls=InputsCommand,
)


def notes(run: RunOnDisk, serving: pathlib.Path, signature: str) -> list[str]:
    """Returns warnings about the model that answers, a line each."""
    from firth.pipelines.results import newest_version

    served = newest_version(serving)
    found = [] if served is None else [_other_run(run, served), _fresh_heads(run, served, signature)]
    return [f"note: {each}" for each in found if each]


def _other_run(run: RunOnDisk, served: pathlib.Path) -> str:
    """Returns a warning where the last run is not the one whose model answers."""
    pushed = run.summary.get("pushed") if run.is_finished else None
    if pushed is not None and pathlib.Path(pushed).name == served.name:
        return ""
    last = f"its model is {pushed}" if pushed is not None else f"it is {run.state}"
    reasons = "; ".join(run.summary.get("reasons", ())) if run.is_finished and pushed is None else ""
    because = f" ({reasons})" if reasons else ""
    return f"{served} answers, which another run pushed. Of the last run: {last}{because}"


def _fresh_heads(run: RunOnDisk, served: pathlib.Path, signature: str) -> str:
    """Returns a warning where a head answers that nobody has trained."""
    from firth.serving.exported_model import read_description

    heads = [path for path in run.summary.get("fresh", ()) if path.startswith("heads/")]
    if not (run.imported_from and heads):
        return ""
    try:
        described = read_description(str(served))["signatures"].get(signature, {})
    except ValueError:
        return ""
    if not described.get("reads_heads"):
        return ""
    layers = ", ".join(dict.fromkeys("/".join(path.split("/")[:2]) for path in heads))
    return (
        f"the answer is random: the imported files have no {layers}, so it was made fresh; "
        f"train it first, with firth finetune or firth run --base {run.directory.name}"
    )


def described(directory: pathlib.Path) -> dict[str, Any]:
    """Returns the description of the newest model in a folder, or ends the command if there is no model."""
    from firth.serving.exported_model import NoModelError, newest_model, read_description

    try:
        return read_description(newest_model(os.fspath(directory)))
    except (NoModelError, ValueError) as error:
        fail(str(error))


def print_listing(directory: pathlib.Path, run: str, root: pathlib.Path, as_json: bool) -> None:
    """Prints the signatures of a model, each with its inputs, parameters and outputs, and a request."""
    from firth.cli.summary import ask_with
    from firth.serving.exported_model import listing, weights_line

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
    place = commands.root_option(root)
    typer.echo(
        f"A row has {description['row_length']} tokens, special ones included. An answer about a longer "
        "text says how much was read."
    )
    for asked in ask_with(description["signatures"]):
        typer.echo(f"  firth predict {shlex.quote(run)}{place} {asked}")
