"""Access to the files of artifacts, on this machine or in a bucket.

A path with a scheme (`gs://`, `s3://`, `hdfs://`) goes through TensorFlow's file systems; any other is local
and needs no TensorFlow. `s3://` also needs tensorflow-io. Object stores cannot rename, cannot append and know
no empty folder, so that a folder counts as whole when its marker is there, which is written last and lists
the sizes of the files.
"""

from firth.storage.files import (
    digest_of,
    exists,
    files_below,
    glob,
    is_folder,
    list_folder,
    open_file,
    read_json,
    read_json_lines,
    read_text,
    remove,
    size_of,
)
from firth.storage.folders import ADAPTER_FOLDER, BEGUN, BUNDLE_FOLDER, copy_folder, move, whole_folder
from firth.storage.growing import GrowingText
from firth.storage.local import local_copy, local_folder
from firth.storage.markers import MARKER, NotWholeError, check_whole, is_unchanged, is_whole
from firth.storage.paths import is_local
from firth.storage.unfinished import scratch_folder
from firth.storage.writing import copy_file, whole_file, write_json, write_text

__all__ = [
    "ADAPTER_FOLDER",
    "BEGUN",
    "BUNDLE_FOLDER",
    "MARKER",
    "GrowingText",
    "NotWholeError",
    "check_whole",
    "copy_file",
    "copy_folder",
    "digest_of",
    "exists",
    "files_below",
    "glob",
    "is_folder",
    "is_local",
    "is_unchanged",
    "is_whole",
    "list_folder",
    "local_copy",
    "local_folder",
    "move",
    "open_file",
    "read_json",
    "read_json_lines",
    "read_text",
    "remove",
    "scratch_folder",
    "size_of",
    "whole_file",
    "whole_folder",
    "write_json",
    "write_text",
]
