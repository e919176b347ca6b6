"""Files of fastText that were cut short, as by a download that ended early."""

import struct

import pytest

from firth.corpus.documents.errors import CorpusError
from firth.corpus.quality.scoring_models import check_fasttext_file
from tests.corpus.quality.models import GOLDEN

WHOLE = (GOLDEN / "fasttext.bin").read_bytes()
# Flag, rows and columns of the matrix after the dictionary, and where they stand.
DENSE = struct.Struct("<?2q")


def input_matrix():
    """Returns the place of the matrix of words, with its flag, its end, its rows and its columns."""
    for place in range(len(WHOLE) - DENSE.size):
        _, rows, columns = DENSE.unpack_from(WHOLE, place)
        end = place + DENSE.size + 4 * rows * columns
        if WHOLE[place] == 0 and 0 < rows < 1000 and 0 < columns < 100 and end < len(WHOLE):
            _, labels, same = DENSE.unpack_from(WHOLE, end)
            if same == columns and end + DENSE.size + 4 * labels * columns == len(WHOLE):
                return place, end, rows, columns
    raise AssertionError("there is no such matrix")


def quantized(has_norms):
    """Returns the same model with a matrix of words whose every number is the first of its 256 centroids."""
    place, end, rows, columns = input_matrix()
    centroids = struct.pack("<4i", columns, columns, 1, 1) + bytes(4 * 256 * columns)
    matrix = (
        struct.pack("<?2qi", has_norms, rows, columns, rows * columns) + bytes(rows * columns) + centroids
    )
    norms = bytes(rows) + struct.pack("<4i", 1, 1, 1, 1) + bytes(4 * 256) if has_norms else b""
    return WHOLE[:place] + b"\1" + matrix + norms + WHOLE[end:]


@pytest.mark.parametrize("model", [WHOLE, quantized(False), quantized(True)], ids=["bin", "ftz", "norms"])
def test_a_file_that_ends_early_is_refused_wherever_it_ends(tmp_path, model):
    path = tmp_path / "model"
    path.write_bytes(model)
    check_fasttext_file(str(path))
    for size in {4, 63, 64, 90, *range(100, len(model), 97), len(model) - 1}:
        path.write_bytes(model[:size])
        with pytest.raises(CorpusError, match=f"{size:,} bytes"):
            check_fasttext_file(str(path))


@pytest.mark.parametrize("has_norms", [False, True])
def test_fasttext_reads_the_quantized_files_of_this_test(tmp_path, has_norms):
    from firth.corpus.quality.scoring_models import FastTextClassifier

    pytest.importorskip("fasttext", reason="fasttext is not installed")
    path = tmp_path / "model.ftz"
    path.write_bytes(quantized(has_norms))
    model = FastTextClassifier(str(path))
    assert sum(model.score("any words", label) for label in model.labels) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"not a model " * 20])
def test_files_of_other_formats_are_left_to_fasttext(tmp_path, content):
    (tmp_path / "model").write_bytes(content)
    check_fasttext_file(str(tmp_path / "model"))
