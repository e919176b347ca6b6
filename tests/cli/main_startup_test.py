"""What the command loads before it has anything to do, in new processes."""

import subprocess
import sys

from tests.cli.conftest import METRICS

HEAVY = ("tensorflow", "tfx", "keras", "numpy", "apache_beam", "matplotlib", "firth.recipes")
COUNT = """
import sys
from firth.cli.main import app
for commands in {groups!r}:
    for arguments in commands:
        try:
            app(arguments)
        except SystemExit as end:
            assert end.code == 0, end.code
    print("loaded:", *sorted({heavy!r} & sys.modules.keys()))
"""
HELP = [["--help"], ["--version"], *([name, "--help"] for name in ("run", "curate", "compare", "predict"))]


def loaded_by(*groups):
    """Returns the heavy modules that are loaded after each group of commands, in one new process."""
    program = COUNT.format(groups=list(groups), heavy=set(HEAVY))
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return [set(line.split()[1:]) for line in process.stdout.splitlines() if line.startswith("loaded:")]


def test_commands_load_no_more_than_they_need(make_run, tmp_path):
    for name in ("a", "b"):
        make_run(name, summary={"blessed": True, "evaluation": {"overall": METRICS}})
    show = ["show", "bert_mini", "--set", "training.steps=500"]
    compare = ["compare", "a", "b", "--root", str(tmp_path / "firth-runs")]
    # Help of `generate` names the values of a request, which come from recipe types.
    helped, of_a_request, shown, compared = loaded_by(
        HELP, [["generate", "--help"]], [show, ["recipes"]], [compare]
    )
    assert helped == set()
    assert of_a_request <= {"numpy", "firth.recipes"}
    assert shown <= {"numpy", "firth.recipes"}
    assert compared == {"numpy", "matplotlib", "firth.recipes"}


def test_predict_loads_no_more_than_tensorflow_needs(tmp_path):
    from tests.analysis.stub_model import save_stub_model

    save_stub_model(tmp_path)
    program = (
        "import sys; from firth.cli.main import app\n"
        "try: app(['predict', sys.argv[1], 'embed', 'four'])\n"
        "except SystemExit: pass\n"
        "heavy = {'tensorflow', 'tfx', 'apache_beam', 'matplotlib', 'pandas', 'sklearn', 'keras_hub'}\n"
        "heavy |= {'firth.objectives', 'firth.recipes', 'tensorflow_serving'}\n"
        "print(*sorted(heavy & sys.modules.keys()))"
    )
    process = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True)
    assert process.stdout.splitlines()[-1] == "tensorflow", process.stderr[-2000:]


def test_a_pattern_without_files_is_refused_before_tfx_is_loaded(tmp_path):
    program = (
        "import sys; from firth.cli.main import app\n"
        "try: app(['run', 'demo', '--text', 'nothing*.txt'])\n"
        "except SystemExit as end: print(end.code, 'tfx' in sys.modules, 'tensorflow' in sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert process.stdout.split() == ["2", "False", "False"]
    assert "nothing*.txt matches no file" in process.stderr
    assert not (tmp_path / "firth-runs").exists()
