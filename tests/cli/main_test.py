import subprocess
import sys

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
