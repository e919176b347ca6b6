"""The command of a compiled pipeline's tasks: registers file systems, then runs TFX's own entry point.

TFX asks its file systems for a task's files before it imports the task's executor, so that nothing of firth
would have registered `s3://` by then. Beam's client of S3 refuses to list files in a process without options.
"""

import runpy
import sys

from firth.corpus.io.source_files import prepare_file_systems
from firth.storage.paths import gfile_of

TFX_ENTRY_POINT = "tfx.orchestration.kubeflow.v2.container.kubeflow_v2_run_executor"


def main() -> None:
    """Runs a task as the arguments of the command say.

    Raises:
        ImportError: if the task's files are in s3://, and tensorflow-io is not installed.
    """
    if any("s3://" in argument for argument in sys.argv):
        gfile_of("s3://")
        prepare_file_systems()
    runpy.run_module(TFX_ENTRY_POINT, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
