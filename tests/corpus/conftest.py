import os
import pathlib

import apache_beam as beam
import pytest

from firth.corpus.document import Document, document_id

SHARED_DATA = pathlib.Path(
    os.environ.get("FIRTH_SHARED_DATA", pathlib.Path(__file__).parents[2].parent / "shared" / "data")
)


def make_pipeline() -> beam.Pipeline:
    return beam.Pipeline(argv=["--direct_running_mode=in_memory", "--direct_num_workers=1"])


def make_pipeline_of_two() -> beam.Pipeline:
    return beam.Pipeline(argv=["--direct_running_mode=multi_threading", "--direct_num_workers=2"])


def document(text: str, name: str = "a", source: str = "docs", licence: str = "CC0") -> Document:
    return Document(document_id(source, name), text, source, licence, name)


def shared_data(name: str) -> pathlib.Path:
    path = SHARED_DATA / name
    if not path.exists():
        pytest.skip(f"there is no {path}; FIRTH_SHARED_DATA names the folder of real data")
    return path
