"""`firth generate --input`: texts written after the prompts of a file."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firth.cli.asking.files import print_counts
from firth.cli.asking.record_lines import drawing_records
from firth.cli.output import ExitCode, terminal
from firth.cli.quietly import quietly

if TYPE_CHECKING:
    from firth.generation import Generated, TextGenerator
    from firth.recipes.generation.request import GenerationRequest
    from firth.serving.batch.predicting import Predicted


def write_file(
    generator: "TextGenerator",
    source: str,
    target: str,
    column: str | None,
    requests: "Sequence[GenerationRequest]",
    tell: "Callable[[Generated, GenerationRequest], Mapping[str, Any]]",
    verbose: bool,
    quoted: bool | None = None,
) -> None:
    """Writes the texts, and prints how many prompts were read and rejected."""
    console = terminal(err=True)

    def work() -> "Predicted":
        from firth.serving.batch.texts import TEXT
        from firth.serving.batch.writing import write_after_file

        with drawing_records(console, "generate") as draw:
            return write_after_file(generator, requests, tell, source, target, column or TEXT, draw, quoted)

    expected = {OSError: ExitCode.FAILED, ValueError: ExitCode.USAGE}
    found = quietly(work, "generate", expected, verbose)
    print_counts(found, target)
