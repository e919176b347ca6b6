import random
import resource

import pytest

from firth.corpus.io.records import write_records
from firth.recipes.corpus.sources import TextSource
from tests.corpus.helpers import read_to


@pytest.fixture
def small_files():
    """Files cannot grow beyond 4 KiB, as on a full disk; the limit is this process's own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_while_writing_rows_leaves_no_file(tmp_path, small_files):
    noise = [random.Random(i).randbytes(2000) for i in range(100)]
    with pytest.raises(OSError):
        write_records(f"{tmp_path}/train", 0, 1, noise)
    assert not list((tmp_path / "train").iterdir())


def test_a_file_appears_when_it_is_whole(tmp_path):
    def records():
        for i in range(100):
            assert not list((tmp_path / "train").iterdir())
            yield bytes(i)

    path = write_records(f"{tmp_path}/train", 3, 16, records())
    assert [str(each) for each in (tmp_path / "train").iterdir()] == [path]
    assert path.endswith("data_tfrecord-00003-of-00016.gz")


def test_a_full_disk_while_reading_is_an_error(tmp_path, small_files):
    for i in range(20):
        (tmp_path / f"{i}.txt").write_text(random.Random(i).randbytes(1500).hex())
    with pytest.raises(Exception, match="File too large"):
        read_to(tmp_path / "out", [TextSource(kind="text", paths=(f"{tmp_path}/*.txt",))])
