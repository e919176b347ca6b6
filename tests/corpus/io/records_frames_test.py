import io
import re

import pytest
import tensorflow as tf

from firth.corpus.io.records import read_record, write_record

RECORDS = [b"", b"a", b"\x00" * 12, bytes(range(256)) * 300]


def framed(records) -> bytes:
    file = io.BytesIO()
    for record in records:
        write_record(file, record)
    return file.getvalue()


def test_frames_are_those_of_tensorflow(tmp_path):
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path) as writer:
        for record in RECORDS:
            writer.write(record)
    assert framed(RECORDS) == (tmp_path / "records").read_bytes()


def test_records_are_read_back():
    file = io.BytesIO(framed(RECORDS))
    assert [read_record(file) for _ in RECORDS] == RECORDS
    assert read_record(file) is None


@pytest.mark.parametrize("kept", range(1, 22))
def test_a_frame_cut_anywhere_is_an_error(kept):
    # 8 bytes of length and 4 of its checksum, 6 of the record, 4 of its checksum.
    where = "within the length of a record" if kept < 12 else "within a record"
    with pytest.raises(ValueError, match=re.escape(where)):
        read_record(io.BytesIO(framed([b"record"])[:kept]))


@pytest.mark.parametrize("place", range(22))
def test_a_changed_byte_anywhere_is_an_error(place):
    data = bytearray(framed([b"record"]))
    data[place] ^= 1
    what = "a record's length" if place < 12 else "a record"
    with pytest.raises(ValueError, match=f"checksum of {what} is"):
        read_record(io.BytesIO(data))
