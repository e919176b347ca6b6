"""Files that somebody else wrote, or that something went wrong with: each has an account that adds up."""

import collections
import pathlib
from collections.abc import Sequence

import pytest

from firth.corpus import SPLITS, ReadSources, WriteRecords, curate
from firth.corpus.documents.document import Document
from firth.recipes.corpus.sources import AnySource
from tests.corpus.fuzzed_files import FUZZED, FUZZED_FILES, fuzzed
from tests.corpus.helpers import CLEANING, make_pipeline, read_records
from tests.corpus.readers.reading import read
from tests.corpus.readers.warc_source_public_archives_test import ARCHIVES, fits, needs_archives, source_of
from tests.corpus.source_files import FILES


def check_accounts(folder: pathlib.Path, sources: Sequence[AnySource]) -> dict[str, int]:
    """Reads and cleans sources of a file each, in one run: in = kept + dropped + rejected in each.

    Returns:
        How many records came in, were kept, dropped and rejected, in all.
    """
    records = {source.name: read(source) for source in sources}
    with make_pipeline() as pipeline:
        documents = pipeline | ReadSources(sources, str(folder))
        _ = documents | WriteRecords(f"{folder}/documents")
    splits = {split: f"{folder}/{split}" for split in SPLITS}
    report = curate(make_pipeline, str(folder), f"{folder}/documents/*", CLEANING, splits, f"{folder}/report")
    written = collections.Counter(
        Document.from_example(each).source for split in SPLITS for each in read_records(f"{folder}/{split}/*")
    )
    lost = {name: collections.Counter() for name in records}
    for row in report["funnel"]:
        for outcome in ("dropped", "rejected"):
            lost[row["source"]][outcome] += sum(each["documents"] for each in row[outcome].values())
    for name, found in records.items():
        rejected = sum(not isinstance(each, Document) for each in found)
        assert lost[name]["rejected"] == rejected, name
        assert len(found) == written[name] + lost[name]["dropped"] + rejected > 0, name
    return {
        "in": sum(map(len, records.values())),
        "kept": written.total(),
        **sum(lost.values(), collections.Counter()),
    }


@pytest.mark.repeated
def test_fuzzed_files(tmp_path):
    # `sources_checklist_test.py` reads all of them.
    sources = [fuzzed(tmp_path, name, seed) for name in FUZZED for seed in range(0, FUZZED_FILES, 16)]
    (tmp_path / "out").mkdir()
    counts = check_accounts(tmp_path / "out", sources)
    # Most of what is whole is a copy, since all files are made of the same texts.
    assert min(counts["kept"], counts["dropped"], counts["rejected"]) > len(sources) / 10, counts


@needs_archives
def test_public_archives_by_each_reader(tmp_path):
    sources = [source_of(kind, name) for kind in sorted(FILES) for name in ARCHIVES if fits(kind, name)]
    counts = check_accounts(tmp_path, sources)
    assert counts["rejected"] > len(sources) / 2 and counts["kept"] > 20, counts
