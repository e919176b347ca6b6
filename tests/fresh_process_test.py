"""Programs in processes that are forked from a server."""

import subprocess

import pytest

from tests.fresh_process import run_python

PROGRAM = """
import os, sys
print(sys.argv, os.environ["A"], os.getcwd())
print("firth" in sys.modules, file=sys.stderr)
"""


def test_a_program_has_its_own_arguments_environment_folder_and_modules(tmp_path):
    import firth  # noqa: F401

    done = run_python(["-c", PROGRAM, "x"], env={"A": "1"}, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"['-c', 'x'] 1 {tmp_path}\n")
    assert done.stderr == "False\n"


@pytest.mark.parametrize("end, status", [("sys.exit(3)", 3), ("raise KeyError('a')", 1)])
def test_its_status_and_traceback_are_seen(end, status):
    done = run_python(["-c", f"import sys; {end}"])
    assert done.returncode == status and ("KeyError: 'a'" in done.stderr) == (status == 1)
    with pytest.raises(subprocess.CalledProcessError):
        run_python(["-c", f"import sys; {end}"], check=True)


def test_modules_and_scripts_run_too(tmp_path):
    (tmp_path / "one.py").write_text("import sys; print(__name__, sys.argv[1:])")
    for arguments in (["-m", "one", "y"], [str(tmp_path / "one.py"), "y"]):
        assert run_python(arguments, cwd=tmp_path).stdout == "__main__ ['y']\n"
