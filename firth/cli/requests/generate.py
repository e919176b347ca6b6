"""`firth generate`: text that a model writes after a prompt."""

import json
import pathlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firth.cli import commands
from firth.cli.bundles import DType, EngineName, engine_options
from firth.cli.output import ExitCode, fail, note, run_quietly, terminal, usage_errors
from firth.cli.requests.constraint_options import (
    ChoiceTexts,
    GrammarFile,
    RegexText,
    SchemaFile,
    WhiteSpaceOf,
    given_constraint,
)
from firth.cli.requests.files import Quoted, check_quoted, drawing_records, print_counts
from firth.cli.requests.request_options import RequestCommand, given_request
from firth.cli.requests.running_server import AskServer, ServedText, served_texts

if TYPE_CHECKING:
    from firth.generation import Generated, TextGenerator
    from firth.recipes.generation.request import GenerationRequest
    from firth.serving.batch.prediction import Predicted

_STDIN = "-"
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A run's name below the root, an imported model's, or the path of a bundle or of what "
        "firth export --format ctranslate2 wrote.",
        show_default=False,
    ),
]
Prompts = Annotated[
    list[str] | None,
    typer.Argument(metavar="PROMPT", help="One or more prompts; - reads one from standard input."),
]
Input = Annotated[
    str | None,
    typer.Option(
        "--input",
        metavar="FILE",
        help="Prompts instead of PROMPT: a csv, tsv or jsonl file, by its column text, or a txt file, a "
        "line each.",
    ),
]
Output = Annotated[str | None, typer.Option("--output", metavar="FILE", help="Texts of --input, as jsonl.")]
Column = Annotated[
    str | None, typer.Option("--column", metavar="COLUMN", help="Column of --input instead of text.")
]


def _generate(
    ctx: typer.Context,
    name: Name,
    prompts: Prompts = None,
    input: Input = None,
    output: Output = None,
    column: Column = None,
    quoted: Quoted = None,
    n: Annotated[
        int, typer.Option("--n", min=1, max=1024, help="Texts for each prompt, each with the next seed.")
    ] = 1,
    stream: Annotated[bool, typer.Option("--stream", help="Print a text while it is written.")] = False,
    schema: SchemaFile = None,
    regex: RegexText = None,
    choice: ChoiceTexts = None,
    grammar: GrammarFile = None,
    white_space: WhiteSpaceOf = None,
    ask_server: AskServer = True,
    engine: EngineName = None,
    dtype: DType = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one object a text.")] = False,
    root: commands.Root = commands.DEFAULT_ROOT,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show what TensorFlow prints.")] = False,
) -> None:
    """Continues prompts with a trained or an imported model, and prints the continuations alone.

    The model is the newest bundle of a run, blessed or not. Without options the likeliest token is taken.
    """
    request = given_request(ctx, given_constraint(schema, regex, choice, grammar, white_space))
    _check_options(prompts, input, output, column, n, stream, as_json, request)
    check_quoted(quoted, input)
    if input is not None and output is not None:
        generator = _loaded(name, root, engine, dtype, verbose)

        def to_json(written: "Generated", asked: "GenerationRequest") -> dict[str, Any]:
            return written_json(written, asked, n)

        write_file(generator, input, output, column, _numbered(request, n), to_json, verbose, quoted)
        return
    texts = [_read_stdin() if each == _STDIN else each for each in prompts or ()]
    requests = _numbered(request, n)
    pairs = [(text, each) for text in texts for each in requests]
    if ask_server and not (stream or engine or dtype):
        bundle, _ = engine_options(name, root, engine, dtype)
        served = served_texts(name, root, bundle, [text for text, _ in pairs], [each for _, each in pairs])
        if served is not None:
            _print_texts(pairs, served, n, as_json)
            return
    generator = _loaded(name, root, engine, dtype, verbose)
    if stream:
        for text in texts:
            for each in requests:
                _print_stream(generator, text, each)
        return

    def work() -> "list[Generated]":
        return generator.generate([text for text, _ in pairs], [each for _, each in pairs])

    _print_texts(pairs, _guarded(work, verbose), n, as_json)


def _print_texts(
    pairs: "Sequence[tuple[str, GenerationRequest]]",
    found: "Sequence[Generated | ServedText]",
    n: int,
    as_json: bool,
) -> None:
    for (text, asked), written in zip(pairs, found, strict=True):
        if as_json:
            typer.echo(json.dumps({"prompt": text, **written_json(written, asked, n)}, ensure_ascii=False))
        else:
            for each in (written, *written.others):
                typer.echo(each.text)
                _print_cut(each)
            _print_scores(written)


def _check_options(
    prompts: Sequence[str] | None,
    input: str | None,
    output: str | None,
    column: str | None,
    n: int,
    stream: bool,
    as_json: bool,
    request: "GenerationRequest",
) -> None:
    """Ends the command unless the options go together."""
    if (input is None) != (output is None):
        fail("--input and --output are given together", ExitCode.USAGE)
    if input is not None and prompts:
        fail("--input holds all prompts; give none in the command", ExitCode.USAGE)
    if input is None and not prompts:
        fail("give a PROMPT, or - to read it, or files with --input and --output", ExitCode.USAGE)
    if column is not None and input is None:
        fail("--column names a column of --input", ExitCode.USAGE)
    if stream and (input is not None or as_json):
        fail("--stream prints plain text; leave --json and --input out", ExitCode.USAGE)
    if n > 1 and not request.sampler.is_random:
        fail(
            f"--n {n}: the sampler {request.sampler.kind} writes one text; give --sampler sample, or "
            "a value of its own such as --temperature",
            ExitCode.USAGE,
        )


def _read_stdin() -> str:
    data = sys.stdin.buffer.read()
    try:
        return data.decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        fail(f"standard input is not UTF-8 from byte {error.start} on", ExitCode.USAGE)


def _loaded(
    name: str, root: pathlib.Path, engine: str | None, dtype: str | None, verbose: bool
) -> "TextGenerator":
    folder, opening = engine_options(name, root, engine, dtype)

    def work() -> "tuple[TextGenerator, list[str]]":
        from firth.generation.engines import engine_of, load_generator, untrained_heads

        is_bundle = engine_of(folder) != opening["engine"] or engine_of(folder) == engine_of("")
        return load_generator(folder, **opening), untrained_heads(folder) if is_bundle else []

    generator, fresh = _guarded(work, verbose, name)
    if fresh:
        note(
            f"the text is random: nobody has trained {', '.join(fresh)} of this model; train it first, with "
            f"firth run --base {pathlib.PurePath(name).name}"
        )
    return generator


def _guarded(work: Any, verbose: bool, name: str = "") -> Any:
    """Returns the result of a function; ends the command with the sentence of an error."""
    from firth.storage import NotWholeError

    def asked() -> Any:
        from firth.generation.framing import NoTextError

        try:
            return work()
        except NoTextError as error:
            raise ValueError(
                f"{name}: {error}. firth predict {name} embed TEXT, or fill-mask, asks this one"
            ) from error

    expected: dict[type[Exception], ExitCode] = {NotWholeError: ExitCode.USAGE, ValueError: ExitCode.USAGE}
    return run_quietly(asked, "generate", expected, verbose)


def _numbered(request: "GenerationRequest", n: int) -> "list[GenerationRequest]":
    return [request.with_changes({"seed": request.seed + number} if number else {}) for number in range(n)]


def _print_stream(generator: "TextGenerator", text: str, request: "GenerationRequest") -> None:
    with usage_errors(ValueError):
        stream = generator.stream(text, request)
        for piece in stream:
            typer.echo(piece, nl=False)
            sys.stdout.flush()
    typer.echo()
    _print_cut(stream.result)
    _print_scores(stream.result)


def _print_cut(written: "Generated | ServedText") -> None:
    if written.complete is False:
        note(f"the text is cut ({written.ended}) and does not meet its constraint; see --finish")


def _print_scores(written: "Generated | ServedText") -> None:
    """Prints the probabilities that were asked for, on standard error."""
    for what, tokens, scores in (
        ("prompt", written.prompt_tokens, written.prompt_log_probabilities),
        ("text", written.tokens, written.log_probabilities),
    ):
        if scores is not None:
            shown = (
                f"{token} {'-' if score is None else f'{score:.3f}'}" for token, score in zip(tokens, scores)
            )
            typer.echo(f"{what}: {'  '.join(shown)}", err=True)


def written_json(written: "Generated | ServedText", request: "GenerationRequest", n: int) -> dict[str, Any]:
    """Returns a written text, and the scores that were asked for, as JSON has them."""
    values: dict[str, Any] = {"generated": written.text, "ended": written.ended}
    if written.complete is not None:
        values["complete"] = written.complete
    seed = {"seed": request.seed} if n > 1 else {}
    scores: dict[str, Any] = {} if written.score is None else {"score": written.score}
    if written.others:
        scores["others"] = [written_json(each, request, 1) for each in written.others]
    if written.log_probabilities is not None:
        scores |= {"tokens": written.tokens, "log_probabilities": written.log_probabilities}
    if written.prompt_log_probabilities is not None:
        scores |= {
            "prompt_tokens": written.prompt_tokens,
            "prompt_log_probabilities": written.prompt_log_probabilities,
        }
    return {**seed, **values, **scores}


register = commands.registrar(
    "generate",
    _generate,
    "firth generate gpt2_tiny 'Returns the length'",
    "firth generate gpt2_tiny 'Returns the' --temperature 0.8 --top-p 0.95 --seed 1 --n 3",
    "firth generate gpt2_tiny 'Returns the' --max-new-tokens 200 --stop '.' --stream",
    "cat prompt.txt | firth generate gpt2_tiny - --log-probabilities",
    "firth generate gpt2_tiny --input prompts.jsonl --output texts.jsonl",
    "firth generate gpt2_tiny 'Returns the' --engine ctranslate2 --dtype int8",
    "firth generate gpt2_tiny 'An order: ' --schema order.json --max-new-tokens 200 --finish",
    "firth generate gpt2_tiny 'Is it good? ' --choice yes --choice no",
    cls=RequestCommand,
)


def write_file(
    generator: "TextGenerator",
    source: str,
    target: str,
    column: str | None,
    requests: "Sequence[GenerationRequest]",
    to_json: "Callable[[Generated, GenerationRequest], Mapping[str, Any]]",
    verbose: bool,
    quoted: bool | None = None,
) -> None:
    """Writes the texts, and prints the numbers of prompts read and rejected."""
    console = terminal(err=True)

    def work() -> "Predicted":
        from firth.serving.batch.generation import write_after_file
        from firth.serving.batch.texts import TEXT

        with drawing_records(console, "generate") as draw:
            return write_after_file(
                generator, requests, to_json, source, target, column or TEXT, draw, quoted
            )

    expected = {OSError: ExitCode.FAILED, ValueError: ExitCode.USAGE}
    found = run_quietly(work, "generate", expected, verbose)
    print_counts(found, target)
