"""Rows of texts and of labelled records, made in this process as the components of the pipelines do."""

import contextlib
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from firth import storage
from firth.corpus import (
    EVAL,
    SPLITS,
    TRAIN,
    Document,
    ReadSources,
    WriteRecords,
    check_sources,
    count_corpus_words,
    curate,
    make_sequences,
    train_tokenizer,
)
from firth.corpus.decontamination.evidence import CorpusEvidence, read_evidence
from firth.corpus.documents.document import document_id
from firth.corpus.io.records import write_records
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.stages import rows_folder, stages_of
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tasks.labelled.data import LabelledData
from firth.tasks.labelled.examples import to_example
from firth.tasks.task_rows import make_task_rows
from firth.tokenizers import load_tokenizer, save_tokenizer
from firth.tokenizers.storage import copy_tokenizer

# The name of the source of texts that are given in Python.
SOURCE = "texts"
_KEYS = re.compile(r"\bdata\.(train|eval|label)\b")


class RowFiles(NamedTuple):
    """Rows on disk, with the tokenizer that they were made with next to them.

    Attributes:
        train: Pattern of the files to train on.
        eval: Patterns of the files to evaluate on; empty for none.
        tokenizer: Folder of the tokenizer.
    """

    train: list[str]
    eval: list[str]
    tokenizer: str


@contextlib.contextmanager
def work_folder(folder: str | os.PathLike[str] | None) -> Iterator[str]:
    """Yields a folder, or a temporary one that is removed afterwards.

    Args:
        folder: Folder that is kept; None for a temporary one.
    """
    if folder is not None:
        yield os.fspath(folder)
        return
    with storage.scratch_folder() as made:
        yield made


def corpus_rows(recipe: Recipe, texts: Sequence[str] | None, folder: str, tokenizer: Any = None) -> RowFiles:
    """Reads, cleans and packs a corpus, and trains its tokenizer.

    Args:
        recipe: Recipe of the run.
        texts: Documents; None to read the recipe's sources.
        folder: Folder of all files.
        tokenizer: Tokenizer to use; None to train that of the recipe.

    Raises:
        firth.corpus.CorpusError: if no document is left, or none for one of the splits.
    """
    for name in ("corpus", "documents", "rows"):
        # A call with other texts, or one that was killed, may have left files.
        storage.remove(os.path.join(folder, name))
    read = os.path.join(folder, "corpus")
    splits = {name: os.path.join(folder, "documents", f"Split-{name}") for name in SPLITS}
    if texts is None:
        with _pipeline() as pipeline:
            documents = pipeline | "Read" >> ReadSources(recipe.sources, read)
            _ = documents | "Write" >> WriteRecords(os.path.join(read, "files"))
        check_sources(read)
    else:
        write_records(os.path.join(read, "files"), 0, 1, map(_example, range(len(texts)), texts))
    curate(
        _pipeline,
        corpus_folder=read,
        corpus_patterns=[os.path.join(read, "files", "*")],
        cleaning=recipe.cleaning,
        split_folders=splits,
        report_folder=os.path.join(folder, "report"),
    )
    rows = os.path.join(folder, "rows")
    saved = os.path.join(rows, TOKENIZER_FOLDER)
    _write_tokenizer(recipe, splits[TRAIN], saved, tokenizer, folder)
    for length, raw_length in _lengths(recipe).items():
        is_main = length == recipe.sequences.length
        place = rows if is_main else os.path.join(rows, rows_folder(length))
        names = SPLITS if is_main else (TRAIN,)
        make_sequences(
            _pipeline,
            {name: [os.path.join(splits[name], "*")] for name in names},
            saved,
            recipe.sequences.model_copy(update={"length": length}),
            recipe.objective.special_tokens,
            raw_length,
            {name: os.path.join(place, f"Split-{name}") for name in names},
            place,
            recipe.mixture,
            [source.name for source in recipe.sources] if recipe.mixture.mixed is not None else [],
        )
    return _files_in(rows, has_eval=True)


def pack_documents(recipe: RunRecipe, texts: Sequence[str], tokenizer: Any, folder: str) -> RowFiles:
    """Packs texts as they are, without cleaning, into rows to train on."""
    documents, rows = os.path.join(folder, "documents"), os.path.join(folder, "rows")
    write_records(documents, 0, 1, map(_example, range(len(texts)), texts))
    saved = os.path.join(rows, TOKENIZER_FOLDER)
    save_tokenizer(tokenizer, saved)
    make_sequences(
        _pipeline,
        {TRAIN: [os.path.join(documents, "*")]},
        saved,
        recipe.sequences,
        recipe.goal.special_tokens,
        recipe.goal.raw_length(recipe.sequences),
        {TRAIN: os.path.join(rows, f"Split-{TRAIN}")},
        rows,
    )
    return _files_in(rows, has_eval=False)


def task_rows(recipe: AdaptingRecipe, found: LabelledData, folder: str) -> RowFiles:
    """Packs the labelled records of a run, as the tokenizer of its base reads them."""
    with storage.scratch_folder() as scratch:
        kept = os.path.join(scratch, TOKENIZER_FOLDER)
        tokenizer = copy_tokenizer(os.path.join(recipe.base.bundle, TOKENIZER_FOLDER), kept, recipe.task)
    corpora = read_evidence(recipe.base.bundle)
    return pack_records(recipe.task, recipe.sequences, found, tokenizer, folder, corpora)


def pack_records(
    task: Any,
    sequences: Sequences,
    found: LabelledData,
    tokenizer: Any,
    folder: str,
    corpora: Sequence[CorpusEvidence] = (),
) -> RowFiles:
    """Packs labelled records by split.

    Args:
        task: Task of the recipe.
        sequences: Rows of the recipe.
        found: Labelled records by split.
        tokenizer: Tokenizer that reads them.
        folder: Folder of all files.
        corpora: Corpora of the base, whose records are marked among those to evaluate on.
    """
    for name in ("records", "rows"):
        storage.remove(os.path.join(folder, name))
    records = {name: os.path.join(folder, "records", f"Split-{name}") for name in found.splits}
    for name, place in records.items():
        write_records(place, 0, 1, (to_example(*each) for each in found.written(name)))
    rows = os.path.join(folder, "rows")
    saved = os.path.join(rows, TOKENIZER_FOLDER)
    save_tokenizer(tokenizer, saved)
    make_task_rows(
        {name: [os.path.join(place, "*")] for name, place in records.items()},
        task,
        sequences,
        tokenizer,
        {name: os.path.join(rows, f"Split-{name}") for name in records},
        rows,
        corpora,
    )
    return _files_in(rows, has_eval=EVAL in records)


def _files_in(rows: str, *, has_eval: bool) -> RowFiles:
    train, held_out = (os.path.join(rows, f"Split-{name}", "*") for name in (TRAIN, EVAL))
    return RowFiles([train], [held_out] if has_eval else [], os.path.join(rows, TOKENIZER_FOLDER))


def _pipeline() -> beam.Pipeline:
    return beam.Pipeline(options=PipelineOptions(["--runner=DirectRunner"]))


def _example(number: int, text: str) -> bytes:
    place = f"{SOURCE}#R{number + 1}"
    return Document(document_id(SOURCE, place), text, SOURCE, "unknown", place).to_example()


def _write_tokenizer(recipe: Recipe, documents: str, folder: str, tokenizer: Any, scratch: str) -> None:
    if tokenizer is not None:
        save_tokenizer(tokenizer, folder)
    elif recipe.base is not None:
        storage.copy_folder(os.path.join(recipe.base.bundle, TOKENIZER_FOLDER), folder)
        load_tokenizer(folder)
    else:
        words = count_corpus_words(
            _pipeline, [os.path.join(documents, "*")], recipe.tokenizer, os.path.join(scratch, "words")
        )
        train_tokenizer(words, recipe.tokenizer, folder, recipe.cleaning.text_steps)


def _lengths(recipe: Recipe) -> dict[int, int]:
    """Returns the most raw tokens of a row by each length of rows that is trained on."""
    found = {recipe.sequences.length: recipe.objective.raw_length(recipe.sequences)}
    for _, _, stage in stages_of(recipe):
        found[stage.sequences.length] = stage.objective.raw_length(stage.sequences)
    return found


def write_scratch(path: str, records: Sequence[Mapping[str, Any]]) -> None:
    """Writes records as a file of JSON lines."""
    storage.write_text(path, "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in records))


def named_by_arguments(text: str, paths: Mapping[str, str]) -> str:
    """Returns a text in which arguments have the place of the files that their records were written to.

    Args:
        text: Text with paths of files, with or without the number of a line.
        paths: Path of the file by the name of its argument.

    Example:

    >>> named_by_arguments("/a/train.jsonl: none; /a/train.jsonl:4: no text", {"train": "/a/train.jsonl"})
    'train: none; train[3]: no text'
    """
    for name, path in paths.items():
        parts = re.split(f"{re.escape(path)}:(\\d+)", text)
        # Every other part is the number of a line, from 1.
        parts[1::2] = [f"{name}[{int(each) - 1}]" for each in parts[1::2]]
        text = "".join(parts).replace(path, name)
    return text


@contextlib.contextmanager
def naming_arguments(paths: Mapping[str, str]) -> Iterator[None]:
    """Errors of records name the arguments that held them, and the arguments that keys of a recipe are.

    Args:
        paths: Path of the scratch file by the name of its argument.

    Raises:
        ValueError: instead of a ValueError that names such a file.
    """
    try:
        yield
    except ValueError as error:
        text = named_by_arguments(str(error), paths)
        if text == str(error):
            raise
        raise ValueError(_KEYS.sub(r"\1", text)) from None


def warn_of_rejected(found: LabelledData, paths: Mapping[str, str], stacklevel: int) -> None:
    """Warns of the records of each split that are left out.

    Args:
        found: Labelled data.
        paths: Path of the scratch file by the name of its argument.
        stacklevel: Frames from here to the caller's line, as for `warnings.warn`.
    """
    for name, split in found.splits.items():
        if split.rejected:
            first, left_out = split.rejected[0], len(split.rejected)
            # Records are rejected before a part of them is held out.
            parts = found.splits.values() if found.held_out and name == TRAIN else [split]
            count = left_out + sum(len(each.records) for each in parts)
            place = named_by_arguments(f"{first.file}:{first.line}", paths)
            warnings.warn(
                f"{left_out} of {count} records are left out; the first is {place}: {first.detail}",
                stacklevel=stacklevel + 1,
            )
