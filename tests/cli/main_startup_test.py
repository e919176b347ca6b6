"""What the command loads before it has anything to do, in new processes."""

import subprocess
import sys

from tests.cli.conftest import METRICS

HEAVY = ("tensorflow", "tfx", "keras", "numpy", "apache_beam", "matplotlib", "firth.recipes")
COUNT = """
import sys
from firth.cli.main import app
for arguments in {commands!r}:
    try:
        app(arguments)
    except SystemExit as end:
        assert end.code == 0, end.code
print("loaded:", *sorted({heavy!r} & sys.modules.keys()))
"""


def loaded_by(*commands):
    program = COUNT.format(commands=[list(each) for each in commands], heavy=set(HEAVY))
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()[-1].split()[1:]


def test_help_loads_nothing_heavy():
    helps = [[command, "--help"] for command in ("run", "curate", "compare", "predict")]
    assert loaded_by(["--help"], ["--version"], *helps) == []


def test_the_options_of_a_request_are_made_without_tensorflow():
    assert set(loaded_by(["generate", "--help"])) <= {"numpy", "firth.recipes"}


def test_recipes_are_checked_and_counted_without_tensorflow():
    show = ["show", "bert_mini", "--set", "training.steps=500"]
    assert set(loaded_by(show, ["recipes"])) <= {"numpy", "firth.recipes"}


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


def test_runs_are_compared_without_tensorflow(make_run, tmp_path):
    for name in ("a", "b"):
        make_run(name, summary={"blessed": True, "evaluation": {"overall": METRICS}})
    loaded = loaded_by(["compare", "a", "b", "--root", str(tmp_path / "firth-runs")])
    assert set(loaded) == {"numpy", "matplotlib", "firth.recipes"}


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
