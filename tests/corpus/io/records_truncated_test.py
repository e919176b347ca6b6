"""Files that end before their time are refused, however little is missing."""

import gzip

import pytest

from firth.corpus.decontamination.benchmarks import read_benchmark
from firth.corpus.documents.errors import SourceError
from firth.corpus.io.file_contents import problem_of, read_blocks
from firth.corpus.io.records import read_batches, read_records
from firth.corpus.io.source_files import SourceFile
from firth.recipes.corpus.benchmarks import ExamplesBenchmark
from tests.corpus.source_files import COMPRESS, NAMES, example, tfrecord

RECORDS = [example(text=f"Text {i}.".encode()) for i in range(50)]


@pytest.mark.parametrize("missing", range(1, 9))
@pytest.mark.parametrize("suffix", NAMES)
def test_a_compressed_file_without_its_last_bytes(tmp_path, suffix, missing):
    path = tmp_path / f"file{suffix}"
    for streams in (1, 2):
        path.write_bytes(b"".join(COMPRESS[suffix](tfrecord(RECORDS)) for _ in range(streams))[:-missing])
        with pytest.raises(OSError) as error:
            list(read_blocks(str(path)))
        assert problem_of(error.value) == f"truncated_{NAMES[suffix]}"


@pytest.mark.parametrize("missing", range(9))
def test_a_file_of_records_without_its_last_bytes(tmp_path, missing):
    path = tmp_path / "data_tfrecord-00000-of-00001.gz"
    data = gzip.compress(tfrecord(RECORDS))
    path.write_bytes(data[: len(data) - missing])
    benchmark = ExamplesBenchmark(kind="examples", name="quiz", uri=str(tmp_path), text_features=("text",))
    if not missing:
        assert list(read_records(str(path))) == RECORDS
        assert len(list(read_benchmark(benchmark, SourceFile(str(path))))) == len(RECORDS)
        return
    for read in (read_records, read_batches):
        with pytest.raises(EOFError, match=r"data_tfrecord-00000-of-00001.gz: .*ended"):
            list(read(str(path)))
    with pytest.raises(SourceError, match=r"benchmark 'quiz': .*data_tfrecord-00000-of-00001.gz"):
        list(read_benchmark(benchmark, SourceFile(str(path))))


def test_a_file_of_records_of_which_nothing_is_left(tmp_path):
    path = tmp_path / "data_tfrecord-00000-of-00001.gz"
    path.write_bytes(b"")
    with pytest.raises(EOFError, match=r"00001.gz: .*missing"):
        list(read_records(str(path)))
    path.write_bytes(gzip.compress(b""))
    assert not list(read_records(str(path)))
