"""Helpers of the tests of the corpus."""

import random

import apache_beam as beam

from firth import storage
from firth.corpus import SPLITS, Document, ReadSources, check_sources, curate
from firth.corpus.documents.document import document_id
from firth.corpus.io import records
from firth.corpus.io.records import WriteRecords, write_records
from firth.recipes.corpus.cleaning import Cleaning, ExactDuplicatesStep, LengthStep, NormalizeStep, Split


def make_pipeline() -> beam.Pipeline:
    return beam.Pipeline(argv=["--direct_running_mode=in_memory", "--direct_num_workers=1"])


def make_pipeline_of_two() -> beam.Pipeline:
    return beam.Pipeline(argv=["--direct_running_mode=multi_threading", "--direct_num_workers=2"])


def document(text: str, name: str = "a", source: str = "docs", licence: str = "CC0") -> Document:
    return Document(document_id(source, name), text, source, licence, name)


STEPS = (
    NormalizeStep(kind="normalize"),
    LengthStep(kind="length", min_words=2),
    ExactDuplicatesStep(kind="exact_duplicates"),
)
CLEANING = Cleaning(steps=STEPS, split=Split(eval_fraction=0.3))
WORDS = "the a of and in whale ship sea Captain harpoon saw called white . ! ? (old) (new) 'and' 1851"


def read_records(pattern: str) -> list[bytes]:
    return [record for file in storage.glob(pattern) for record in records.read_records(file)]


def read_to(folder, sources, privacy=None, dropped_files=0, made=make_pipeline) -> list[Document]:
    with made() as pipeline:
        _ = (
            pipeline
            | ReadSources(sources, str(folder), privacy, dropped_files=dropped_files)
            | WriteRecords(f"{folder}/documents")
        )
    check_sources(str(folder))
    return [Document.from_example(record) for record in read_records(f"{folder}/documents/*")]


def clean(folder, documents, cleaning, pipeline=make_pipeline) -> dict:
    write_records(f"{folder}/in", 0, 1, [each.to_example() for each in documents])
    splits = {split: f"{folder}/{split}" for split in SPLITS}
    return curate(pipeline, str(folder), f"{folder}/in/*", cleaning, splits, f"{folder}/report")


def random_text(generator: random.Random, words: int) -> str:
    return " ".join(generator.choices(WORDS.split(), k=words))
