"""Gzipped TFRecord files that appear whole or not at all."""

import posixpath
import uuid
from collections.abc import Iterable

# Written once and read soon: files are an eighth larger than at zlib's default, in a quarter of the time.
COMPRESSION_LEVEL = 2


def write_records(folder: str, index: int, count: int, records: Iterable[bytes]) -> str:
    """Writes file `index` of `count` into a folder and returns its path.

    Raises:
        tensorflow.errors.OpError: if the file system refuses, as a full disk does.
    """
    return write_file(folder, f"{index:05d}-of-{count:05d}", records)


def write_file(folder: str, name: str, records: Iterable[bytes]) -> str:
    """Writes a file whose name ends as given and returns its path.

    Raises:
        tensorflow.errors.OpError: if the file system refuses, as a full disk does.
    """
    import tensorflow as tf

    path = posixpath.join(folder, f"data_tfrecord-{name}.gz")
    # Beside the folder, since readers of a split take every file in it.
    unfinished = f"{folder.rstrip('/')}.{uuid.uuid4().hex}.unfinished"
    tf.io.gfile.makedirs(folder)
    try:
        options = tf.io.TFRecordOptions(compression_type="GZIP", compression_level=COMPRESSION_LEVEL)
        with tf.io.TFRecordWriter(unfinished, options) as writer:
            for record in records:
                writer.write(record)
        tf.io.gfile.rename(unfinished, path, overwrite=True)
    finally:
        if tf.io.gfile.exists(unfinished):
            tf.io.gfile.remove(unfinished)
    return path
