"""Beam's file systems in a process that has run no pipeline yet."""

import functools

from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions


@functools.cache
def prepare_file_systems() -> None:
    """Lets Beam list and open what is in buckets before this process has made a pipeline.

    Beam's client of S3 works with the options of a pipeline alone. So a source could not be listed there, and
    no component could begin in a container of its own. A pipeline that is made later sets its options.
    """
    FileSystems.set_options(PipelineOptions([]))
