"""From broken and whole files to splits: what comes out depends on nothing but what the files hold."""

import gzip
import json
import multiprocessing
import os
import random
import signal
import time

import pytest

from firth.corpus import SPLITS, Document, ReadSources, WriteRecords, curate
from firth.corpus.curation.curate import SCRATCH_FOLDER
from firth.corpus.documents.hashing import digest
from firth.recipes.corpus.cleaning import Cleaning, Split
from firth.recipes.corpus.sources import AnySource
from tests.corpus.duplicates_helpers import random_words, with_changes
from tests.corpus.helpers import make_pipeline, make_pipeline_of_two, read_records
from tests.corpus.source_files import (
    COMPRESS,
    COMPRESSED_KINDS,
    FILES,
    TEXTS,
    dump,
    page,
    response,
    warc_record,
)

STEPS = ("normalize", "length", "pii", "exact_duplicates", "sentence_duplicates", "near_duplicates")
# The texts have no chains of near copies.
SETTINGS = {"near_duplicates": {"rounds": 3}}
LIMIT = 10_000

# Files of each kind of which nothing, or not all, can be read.
BROKEN: dict[str, dict[str, bytes]] = {
    "text": {"utf8": b"\xff\xfe\xff", "nulls": b"Null\0bytes and a few words more.", "empty": b""},
    "jsonl": {
        "cut.gz": gzip.compress(b"\n".join(b'{"text": "Line %d of few."}' % i for i in range(99)))[:-30],
        "line": b'{"text": "' + b"x" * (2 * LIMIT) + b'"}\n{"text": "And one that is read."}',
        "nulls": b'\0\0\0\n{"text": "Null \\u0000 in it, and words."}\n{"text": \xff}',
    },
    "html": {"deep": b"<div>" * 1_200 + b"Deep.", "nulls": b"\0" * 99},
    "warc": {"length": response("http://b", page(TEXTS[0]), length=5) + response("http://c", page(TEXTS[1]))},
    "wet": {"length": warc_record("conversion", "http://d", b"Words.", length="many")},
    "wikiextractor": {"open": b'<doc id="1" url="u" title="t">\nNo end.'},
    "tfrecord": {"bytes": b"\1" * 99},
    "parquet": {"bytes": b"PAR1" + b"\0" * 99},
    "csv": {"rows": b'text,n\nOnly one cell.\n"Two" quotes,1\nA row of some words.,2\n"No end,3\n'},
    "arrow": {"bytes": b"\xff\xff\xff\xff" + b"\0" * 99, "empty": b""},
    "mediawiki": {"open": dump([("A", "A page of words."), ("B", "No end.")])[:-60]},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Writes whole and broken files of every kind, and texts that are copies and near copies."""
    folder = tmp_path_factory.mktemp("files")
    for number, (kind, (_, make_file)) in enumerate(FILES.items()):
        suffix = list(COMPRESS)[number % len(COMPRESS)] if kind in COMPRESSED_KINDS else ""
        (folder / f"whole.{kind}{suffix}").write_bytes(COMPRESS[suffix](make_file(TEXTS)))
        for name, data in BROKEN[kind].items():
            stem, _, ending = name.partition(".")
            (folder / f"{stem}.{kind}{'.' if ending else ''}{ending}").write_bytes(data)
    generator = random.Random(0)
    for number in range(6):
        lines = []
        for i in range(20):
            words = random_words(random.Random(i % 15), 80)
            lines.append(
                " ".join(with_changes(words, generator.randrange(2))) + f", {number if i % 4 else 0}"
            )
        text = "\n".join(json.dumps({"text": line}) for line in lines)
        (folder / f"more{number}.jsonl").write_text(text)
    return folder


def sources(folder, reverse: bool) -> list[AnySource]:
    """Returns a source of each kind; patterns are not in the order of their files."""
    found = []
    for kind, (new_source, _) in FILES.items():
        paths = (f"{folder}/whole.{kind}*", f"{folder}/[!w]*.{kind}*")
        found.append(new_source(kind=kind, paths=paths[::-1] if reverse else paths, max_document_bytes=LIMIT))
    return found


def read(folder, out, reverse: bool = False) -> None:
    with make_pipeline() as pipeline:
        documents = pipeline | ReadSources(sources(folder, reverse), str(out))
        _ = documents | WriteRecords(f"{out}/raw")


def clean(out, pipeline=make_pipeline) -> dict:
    steps = tuple({"kind": kind, **SETTINGS.get(kind, {})} for kind in STEPS)
    cleaning = Cleaning.model_validate({"steps": steps, "split": Split(eval_fraction=0.2)})
    splits = {split: f"{out}/{split}" for split in SPLITS}
    return curate(pipeline, str(out), f"{out}/raw/*", cleaning, splits, f"{out}/report")


def written(out) -> dict[str, str]:
    return {split: digest(*sorted(read_records(f"{out}/{split}/*"))).hex() for split in SPLITS}


@pytest.fixture(scope="module")
def first(folder, tmp_path_factory):
    """Returns the folder of an undisturbed run on one worker, and its report."""
    out = tmp_path_factory.mktemp("first")
    read(folder, out)
    return out, clean(out)


def test_in_is_kept_and_dropped_and_rejected_in_every_step_and_source(first):
    _, report = first
    rejected = {reason for row in report["funnel"] for reason in row["rejected"]}
    assert rejected >= {
        "invalid_utf8", "empty", "truncated_gzip", "too_long", "malformed_json", "nested_too_deeply",
        "bad_length", "malformed_header", "corrupt_parquet",
    }  # fmt: skip
    for row in report["funnel"]:
        gone = sum(each["documents"] for way in ("dropped", "rejected") for each in row[way].values())
        assert row["documents_in"] == row["documents_kept"] + gone
    steps = {row["step"] for row in report["funnel"] if row["dropped"]}
    assert steps >= {"exact_duplicates", "near_duplicates"}
    assert {row["source"] for row in report["funnel"]} == set(FILES)
    last = sum(row["documents_kept"] for row in report["funnel"] if row["step"] == STEPS[-1])
    assert sum(row["documents"] for row in report["splits"]) == last > 10


def test_killed_and_started_again_on_two_workers_in_other_batches_and_order_it_writes_the_same(
    folder, first, tmp_path, monkeypatch
):
    monkeypatch.setattr("firth.corpus.readers.read_sources.BATCH_BYTES", 1)
    monkeypatch.setattr("firth.corpus.io.records.BATCH_BYTES", 2_000)
    monkeypatch.setattr("firth.corpus.grouping.values.FILE_BYTES", 5_000)
    read(folder, tmp_path, reverse=True)
    process = multiprocessing.get_context("fork").Process(target=clean, args=(tmp_path,))
    process.start()
    scratch = tmp_path / "report" / SCRATCH_FOLDER
    while process.is_alive() and not (scratch.exists() and any(scratch.iterdir())):
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    # As if it had got so far as to write some of the files, on another number of workers.
    (path, *_) = (first[0] / "train").iterdir()
    (tmp_path / "train").mkdir(exist_ok=True)
    (tmp_path / "train" / "data_tfrecord-00000-of-00007.gz").write_bytes(path.read_bytes())
    assert clean(tmp_path, make_pipeline_of_two) == first[1]
    assert written(tmp_path) == written(first[0])
    assert not scratch.exists()


def test_documents_are_whole(first):
    for split in SPLITS:
        documents = [Document.from_example(record) for record in read_records(f"{first[0]}/{split}/*")]
        assert documents and all(each.text.strip() for each in documents)
