import subprocess
import sys

from firth.pipelines import logs


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
