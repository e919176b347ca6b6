"""`firth curation`: questions about a corpus that has been cleaned."""

import pathlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from firth import storage
from firth.cli import commands
from firth.cli.output import ExitCode, fail
from firth.cli.runs_on_disk import RECIPE_FILE, find_run

if TYPE_CHECKING:
    from firth.corpus.privacy.pii import Pii
    from firth.pipelines.lineage import Outputs

Wanted = Annotated[
    str,
    typer.Argument(
        metavar="DOCUMENT",
        help="A document's id or its address, as reports and exports have them, such as a.jsonl#L12.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the subcommand."""
    group = typer.Typer(help="Answers questions about a corpus that has been cleaned.", no_args_is_help=True)
    examples = commands.epilog(
        "firth curation why web https://example.org/page",
        "firth curation why web 'crawl/a.jsonl#L12'",
        after=(
            "Dropped documents are known one by one if the recipe has cleaning.list_dropped: true. "
            "Exit codes: 0 it is known; 1 no such document is known; 2 wrong usage."
        ),
    )
    group.command("why", epilog=examples)(_why)
    app.add_typer(group, name="curation")


def _why(run: commands.RunName, document: Wanted, root: commands.Root = commands.DEFAULT_ROOT) -> None:
    """Says why a document was dropped or rejected, or in which split it is."""
    from firth.corpus.privacy.excerpts import scrubber_for
    from firth.pipelines.results import outputs_of
    from firth.recipes.reading.loading import load_run_recipe

    directory = find_run(root, run).directory
    outputs = outputs_of(directory)
    if "Curator" not in outputs:
        fail(f"{directory} has no cleaned corpus; firth curate makes one", ExitCode.USAGE)
    cleaning = getattr(load_run_recipe(directory / RECIPE_FILE), "cleaning", None)
    if cleaning is None:
        fail(f"{directory} is not the run of a corpus", ExitCode.USAGE)
    scrubber = scrubber_for(cleaning)
    found = False
    for line in _answers(outputs, document, scrubber):
        found = True
        typer.echo(line)
    if found:
        return
    hint = (
        "" if cleaning.list_dropped else "; set cleaning.list_dropped: true to have dropped documents listed"
    )
    fail(
        f"no document of this id or address was kept, dropped or rejected: {document}{hint}", ExitCode.FAILED
    )


def _answers(outputs: "Outputs", wanted: str, scrubber: "Pii") -> Iterator[str]:
    from firth.corpus.readers.dropped_documents import find_dropped

    read = outputs.get("CorpusExampleGen", {}).get("examples")
    for folder in (read, outputs["Curator"]["report"]):
        for row in [] if folder is None else find_dropped(str(folder), wanted, scrubber):
            match = f" of {row.match}" if row.match else ""
            yield f"{row.id} ({row.source}, {row.uri}): dropped by {row.step}: {row.reason}{match}"
    if read is not None:
        yield from _rejected(read, scrubber.scrub_address(wanted))
    yield from _kept(outputs["Curator"]["examples"], {wanted, scrubber.scrub_metadata(wanted)})


def _rejected(folder: pathlib.Path, wanted: str) -> Iterator[str]:
    for record in storage.read_json_lines(folder / "rejected.jsonl"):
        file, line = record["file"], record["line"]
        if wanted in (file, f"{file}#L{line}", f"{file}#R{line}"):
            yield f"{file}, {line} ({record['source']}): rejected while it was read: {record['reason']}"


def _kept(folder: pathlib.Path, wanted: set[str]) -> Iterator[str]:
    from firth.corpus.documents.document import Document
    from firth.corpus.documents.split import SPLITS
    from firth.corpus.io.records import read_batches, record_files

    for split in SPLITS:
        for path, _ in record_files(f"{folder}/Split-{split}/*"):
            documents = (Document.from_example(each) for batch in read_batches(path) for each in batch)
            for document in documents:
                if wanted & {document.id, document.uri}:
                    yield f"{document.id} ({document.source}, {document.uri}): kept, in {split}"
