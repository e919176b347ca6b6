import subprocess
import sys

import pytest

from firth.pipelines import local, logs
from firth.pipelines.run_errors import explain


def test_a_second_run_in_the_same_folder_is_refused(tmp_path):
    refused = pytest.raises(local.RunLockedError, match="in use by another run")
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


def test_what_native_code_prints_lands_in_the_log(tmp_path):
    script = (
        "import os, pathlib, sys\n"
        "from firth.pipelines import logs\n"
        "with logs.output_in(pathlib.Path(sys.argv[1])):\n"
        "    os.write(1, b'from C\\n')\n"
        "    print('from Python')\n"
        "print('after')\n"
    )
    log_path = logs.new_log_path(tmp_path)
    process = subprocess.run(
        [sys.executable, "-c", script, str(log_path)], capture_output=True, text=True, check=True
    )
    assert log_path.read_text() == "from C\nfrom Python\n"
    assert process.stdout == "after\n"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("bad line [while running 'Read/ParDo(X)']"), "bad line"),
        (
            RuntimeError("Traceback (most recent call last):\n  File x\nOSError: disk full"),
            "OSError: disk full",
        ),
        (MemoryError(), "MemoryError"),
    ],
)
def test_errors_are_explained_without_what_beam_wraps_around_them(error, message):
    assert explain(error) == message
