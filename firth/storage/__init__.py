"""Access to the files of artifacts, on this machine or in a bucket.

A path with a scheme (`gs://`, `s3://`, `hdfs://`) goes through TensorFlow's file systems; any other is local
and needs no TensorFlow. `s3://` also needs tensorflow-io. Object stores cannot rename, cannot append and know
no empty folder, so that a folder counts as whole when its marker is there, which is written last and lists
the sizes of the files.
"""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
