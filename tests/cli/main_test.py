import os
import pathlib
import subprocess
import sys

import firth

PROGRAM = """
import sys
from firth.cli.main import main

class Late:
    def __del__(self):
        raise TypeError("taken down too late")

late = Late()
sys.argv = ["firth", "--version"]
{call}
"""


def test_what_fails_while_python_ends_is_not_said():
    said = {}
    for call in ("main()", ""):
        command = [sys.executable, "-c", PROGRAM.format(call=call)]
        process = subprocess.run(command, capture_output=True, text=True)
        said[call] = (process.returncode, process.stdout[:6], "taken down too late" in process.stderr)
    assert said == {"main()": (0, "firth ", False), "": (0, "", True)}


def test_a_command_answers_where_no_temporary_folder_can_be_made(tmp_path):
    """As on a full disk."""
    full = "import os\nfrom unittest import mock\nno_room = OSError(28, os.strerror(28))\n"
    call = "with mock.patch('pathlib.Path.mkdir', side_effect=no_room):\n    main()"
    command = [sys.executable, "-c", full + PROGRAM.format(call=call)]
    process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (process.returncode, process.stdout[:6], process.stderr) == (0, "firth ", "")


def test_a_refusal_is_all_that_is_printed(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\none,x\ntwo,y\n")
    said = ["finetune", "nothing", "--task", "classification", "--train", "a.csv", "--text", "text"]
    shell = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    shell["PYTHONPATH"] = str(pathlib.Path(firth.__file__).parents[1])
    command = [sys.executable, "-m", "firth", *said]
    process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=shell)
    assert (process.returncode, process.stdout) == (2, "")
    (line,) = process.stderr.splitlines()
    assert line.startswith("error: BASE nothing: ")
