"""Texts written after the prompts of a file."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from firth.generation import Generated, TextGenerator
from firth.recipes.generation.request import GenerationRequest
from firth.serving.batch.prediction import Predicted, answer_records, check_places
from firth.serving.batch.texts import TEXT, TextRecord, Unread, read_texts
from firth.tasks.readers.records import RejectedLine


def write_after_file(
    generator: TextGenerator,
    requests: Sequence[GenerationRequest],
    tell: Callable[[Generated, GenerationRequest], Mapping[str, Any]],
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    column: str = TEXT,
    progress: Callable[[int], None] = lambda written: None,
    quoted: bool | None = None,
) -> Predicted:
    """Writes after each prompt of a file what each request asks for, and keeps it whole or not at all.

    The lines are objects of JSON, one for each prompt that can be read, in their order: its `line`, its
    `text` and the fields of what was written; with several requests, a list of those in `texts`.

    Raises:
        RefusedFileError: if the file cannot be read, or none of its prompts, or the texts would take its
            place.
        ValueError: for a request that cannot be honoured.
        OSError: if the texts cannot be written.
    """
    check_places(source, target)
    for each in requests:
        generator.check(each)
    unread = Unread()

    def answer(batch: Sequence[TextRecord]) -> Iterator[Mapping[str, Any]]:
        asked = [(str(record.texts[TEXT]), each) for record in batch for each in requests]
        found = generator.generate([text for text, _ in asked], [each for _, each in asked])
        fields = [tell(written, each) for written, (_, each) in zip(found, asked, strict=True)]
        for start in range(0, len(fields), len(requests)):
            of_prompt = fields[start : start + len(requests)]
            yield of_prompt[0] if len(requests) == 1 else {"texts": of_prompt}

    prompts = read_texts(source, {TEXT: column}, unread, quoted=quoted)
    records = _fitting(generator, prompts, unread, os.fspath(source))
    return answer_records(records, unread, source, target, answer, progress)


def _fitting(
    generator: TextGenerator, records: Iterator[TextRecord], unread: Unread, name: str
) -> Iterator[TextRecord]:
    """Yields the records that the model can read as prompts, and counts the others."""
    for record in records:
        try:
            generator.framing.read([str(record.texts[TEXT])])
        except ValueError as error:
            detail = str(error).partition(": ")[2]
            unread.add(RejectedLine("not_a_prompt", name, record.line, detail))
        else:
            yield record
