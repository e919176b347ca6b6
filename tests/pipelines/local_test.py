import subprocess
import sys

import pytest

from firth.pipelines import local


def test_a_second_run_in_the_same_folder_is_refused(tmp_path):
    refused = pytest.raises(local.RunLockedError, match="in use")
    with local._locked(tmp_path), refused, local._locked(tmp_path):
        pass


def test_the_lock_goes_with_a_killed_process(tmp_path):
    script = (
        "import os, pathlib, sys\n"
        "from firth.pipelines import local\n"
        "with local._locked(pathlib.Path(sys.argv[1])):\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True)
    assert killed.returncode == -9
    with local._locked(tmp_path):
        assert (tmp_path / local.LOCK_FILE).exists()
