"""Metadata of records that pass through: which values, by which kinds, and through the cleaning."""

import datetime
import json

import pyarrow as pa
import pytest

from firth.corpus import SPLITS, Document
from firth.recipes.corpus.cleaning import Cleaning, LengthStep, NormalizeStep, Split
from firth.recipes.corpus.duplicates import ExactDuplicatesStep, NearDuplicatesStep
from firth.recipes.corpus.privacy import PiiStep
from firth.recipes.corpus.sources import ArrowSource, JsonlSource, ParquetSource, WarcSource, WetSource
from tests.corpus.helpers import clean, make_pipeline_of_two, read_records, read_to
from tests.corpus.readers.reading import read
from tests.corpus.source_files import arc, arrow, page, parquet, response, warc_record

KEYS = ("day", "of.name", "missing")
DAY = datetime.date(2026, 11, 28)
TABLE = {"text": ["One.", "Two."], "day": [DAY, None], "of": [{"name": "Ä", "b": 1}, {"name": "B", "b": 2}]}
STATED = [{"day": "2026-11-28", "of.name": "Ä"}, {"of.name": "B"}]


@pytest.mark.parametrize(("new_source", "write"), [(ParquetSource, parquet), (ArrowSource, arrow)])
def test_columns_of_tables(tmp_path, new_source, write):
    (tmp_path / "a").write_bytes(write(TABLE))
    kind = "parquet" if new_source is ParquetSource else "arrow"
    documents = read(new_source(kind=kind, paths=(f"{tmp_path}/a",), metadata_keys=KEYS))
    assert [json.loads(each.metadata) for each in documents] == STATED
    assert Document.from_example(documents[0].to_example()) == documents[0]


def test_files_of_arrow_with_a_footer_and_cut_files(tmp_path):
    data = pa.table({"text": ["One.", "Two.", "Three."], "id": [1.5, 2, None]})
    with pa.OSFile(f"{tmp_path}/a", "wb") as file, pa.ipc.new_file(file, data.schema) as writer:
        writer.write_table(data)
    source = ArrowSource(kind="arrow", paths=(f"{tmp_path}/a",), id_key="id")
    assert [each.text for each in read(source)] == ["One.", "Two.", "Three."]
    whole = arrow({"text": ["One. " * 500, "Two. " * 500, "Three. " * 500]}, rows=1)
    (tmp_path / "a").write_bytes(whole[: len(whole) // 2])
    first, *_, last = read(source)
    assert first.text.startswith("One.") and last.reason == "corrupt_arrow"
    (tmp_path / "a").write_bytes(b"no table")
    assert [each.reason for each in read(source)] == ["corrupt_arrow"]


def test_headers_of_archives(tmp_path):
    keys = ("WARC-Type", "Content-Type", "WARC-None")
    (tmp_path / "a.warc").write_bytes(response("http://a/1", page("Call me Ishmael.")))
    (tmp_path / "a.wet").write_bytes(warc_record("conversion", "http://a/1", b"Call me Ishmael."))
    (tmp_path / "a.arc").write_bytes(arc(["Call me Ishmael."]))
    (one,) = read(WarcSource(kind="warc", paths=(f"{tmp_path}/a.warc",), metadata_keys=keys))
    assert json.loads(one.metadata) == {
        "WARC-Type": "response",
        "Content-Type": "application/http; msgtype=response",
    }
    (two,) = read(WetSource(kind="wet", paths=(f"{tmp_path}/a.wet",), metadata_keys=keys))
    assert json.loads(two.metadata)["WARC-Type"] == "conversion"
    (three,) = read(WarcSource(kind="warc", paths=(f"{tmp_path}/a.arc",), metadata_keys=keys))
    assert three.metadata == "{}"


def test_it_goes_through_the_cleaning_without_personal_data(tmp_path):
    with open(tmp_path / "a.jsonl", "w") as file:
        for i in range(20):
            record = {
                "text": f"The whale number {i % 15} rose from the sea.",
                "of": {"n": i, "by": ["jane@roe.org"]},
            }
            file.write(json.dumps(record) + "\n")
    source = JsonlSource(kind="jsonl", paths=(f"{tmp_path}/a.jsonl",), metadata_keys=("of",))
    documents = read_to(tmp_path / "out", [source])
    steps = (
        NormalizeStep(kind="normalize"),
        PiiStep(kind="pii"),
        LengthStep(kind="length", min_words=2),
        ExactDuplicatesStep(kind="exact_duplicates"),
        NearDuplicatesStep(kind="near_duplicates"),
    )
    cleaning = Cleaning(steps=steps, split=Split(eval_fraction=0.3))
    clean(tmp_path / "out", documents, cleaning, make_pipeline_of_two)
    written = [each for split in SPLITS for each in read_records(f"{tmp_path}/out/{split}/*")]
    cleaned = list(map(Document.from_example, written))
    assert cleaned
    for each in cleaned:
        stated = json.loads(each.metadata)["of"]
        assert f"number {stated['n'] % 15} " in each.text and stated["by"] == ["<EMAIL>"]
