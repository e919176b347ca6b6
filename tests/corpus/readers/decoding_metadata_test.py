"""Metadata of records that pass through: which values, by which kinds, and through the cleaning."""

import bz2
import datetime
import gzip
import json

import pyarrow as pa
import pytest
import zstandard

from firth.corpus import SPLITS, Document
from firth.corpus.filters.language import identify
from firth.corpus.privacy.excerpts import scrubber_for
from firth.corpus.readers.dropped_documents import find_dropped
from firth.recipes.corpus.cleaning import Cleaning, LengthStep, NormalizeStep, Split
from firth.recipes.corpus.duplicates import ExactDuplicatesStep, NearDuplicatesStep
from firth.recipes.corpus.filters import LanguageStep
from firth.recipes.corpus.privacy import PiiStep
from firth.recipes.corpus.sources import ArrowSource, JsonlSource, ParquetSource, WarcSource, WetSource
from tests.corpus.helpers import clean, make_pipeline_of_two, read_records, read_to
from tests.corpus.readers.reading import read
from tests.corpus.source_files import arc, arrow, page, parquet, response, warc_record
from tests.repeating import often

SENTENCE = (
    "The old keeper of the lighthouse walked slowly down to the harbour every morning, because he liked to "
    "watch how small boats came back from a long night on cold water, while his daughter, who wanted to "
    "become an engineer, read her books at home and wrote letters about storms that nobody else had seen"
)
LANGUAGES = ("en", "de", "fr", "es", "la", "nl", "it", "pt", "sv", "da")
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


@pytest.mark.repeated
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
        NearDuplicatesStep(kind="near_duplicates", rounds=2),
    )
    cleaning = Cleaning(steps=steps, split=Split(eval_fraction=0.3))
    clean(tmp_path / "out", documents, cleaning, make_pipeline_of_two)
    written = [each for split in SPLITS for each in read_records(f"{tmp_path}/out/{split}/*")]
    cleaned = list(map(Document.from_example, written))
    assert cleaned
    for each in cleaned:
        stated = json.loads(each.metadata)["of"]
        assert f"number {stated['n'] % 15} " in each.text and stated["by"] == ["<EMAIL>"]


@pytest.mark.parametrize(
    "pack", often([bytes, gzip.compress, zstandard.compress, bz2.compress], [bytes, gzip.compress])
)
def test_the_offset_of_an_archives_record_is_where_one_can_read_it_alone(tmp_path, pack):
    records = [
        response(f"http://a/{i}", page(f"The whale number {i} rose. " * 3000 * i)) for i in range(1, 5)
    ]
    parts = [
        warc_record("warcinfo", "", b"{}"),
        *(record.rstrip(b"\r\n") + b"\r\n\r\n" for record in records),
    ]
    packed = [pack(part) for part in parts]
    (tmp_path / "a.warc").write_bytes(b"".join(packed))
    source = WarcSource(kind="warc", paths=(f"{tmp_path}/a.warc",), metadata_keys=("offset", "WARC-Type"))
    found = [json.loads(each.metadata) for each in read(source)]
    starts = [sum(map(len, packed[:i])) for i in range(len(packed))]
    assert [each["offset"] for each in found] == starts[1:]
    if pack is not bytes:
        (tmp_path / "a.warc").write_bytes(pack(b"".join(parts)))
        assert ["offset" in json.loads(each.metadata) for each in read(source)] == [False] * 4


def test_steps_add_what_they_found_to_the_metadata(tmp_path):
    words = SENTENCE.split()
    texts = [
        "It was the best of times, it was the worst of times.",
        " ".join(words),
        " ".join([*words, "end"]),
    ]
    near = " ".join(words[:-1])
    lines = [{"text": text, "n": n} for n, text in enumerate([*texts, near, texts[0]])]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    source = JsonlSource(kind="jsonl", paths=(f"{tmp_path}/a.jsonl",), metadata_keys=("n",))
    documents = read_to(tmp_path / "read", [source])
    steps = (
        ExactDuplicatesStep(kind="exact_duplicates", add_metadata=True),
        NearDuplicatesStep(kind="near_duplicates", rounds=2, add_metadata=True),
        LanguageStep(kind="language", languages=LANGUAGES, min_probability=0, add_metadata=True),
        LanguageStep(kind="language", languages=LANGUAGES, min_probability=0),
        PiiStep(kind="pii"),
    )
    cleaning = Cleaning(steps=steps, split=Split(eval_fraction=0.5), list_dropped=True)
    clean(tmp_path, documents, cleaning)
    records = [each for split in SPLITS for each in read_records(f"{tmp_path}/{split}/*")]
    kept = {each.text: json.loads(each.metadata) for each in map(Document.from_example, records)}
    ids = {json.loads(each.metadata)["n"]: each.id for each in documents}
    first, of_words = kept[texts[0]], kept[texts[2]]
    language, probability = identify(texts[0])
    assert first == {
        "n": first["n"],
        "exact_duplicates.cluster": ids[first["n"]],
        "exact_duplicates.cluster_size": 2,
        "near_duplicates.cluster": ids[first["n"]],
        "near_duplicates.cluster_size": 1,
        "language.language": language,
        "language.probability": pytest.approx(probability, abs=1e-6),
    }
    assert (of_words["near_duplicates.cluster"], of_words["near_duplicates.cluster_size"]) == (ids[2], 3)
    scrubber = scrubber_for(cleaning)
    (row,) = find_dropped(f"{tmp_path}/report", ids[3], scrubber)
    assert (row.step, row.match) == ("near_duplicates", ids[2])
    (row,) = find_dropped(f"{tmp_path}/report", ids[4 - first["n"]], scrubber)
    assert (row.step, row.match) == ("exact_duplicates", ids[first["n"]])
