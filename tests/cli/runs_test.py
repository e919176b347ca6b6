import json
import os

import pytest

from tests.cli.conftest import METRICS

BLESSED = {"blessed": True, "evaluation": {"overall": METRICS}}
TRAINED = {**BLESSED, "outputs": {"Trainer": {"model_run": "/once/there/pipeline/Trainer/model_run/7"}}}


def write_history(folder, place, steps, mtime=None):
    path = folder / place / "history.jsonl"
    path.parent.mkdir(parents=True)
    lines = [
        {"step": step, "loss": 9.0, "mlm_loss": 8.0, "tokens": 64 * step} for step in range(1, steps + 1)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"step": 99, "lo')
    if mtime is not None:
        os.utime(path, (mtime, mtime))


def page_of(result):
    assert result.exit_code == 0, result.output
    with open(result.stdout.strip()) as file:
        return file.read()


def test_the_page_lies_below_the_root_and_its_path_alone_is_printed(firth, make_run):
    make_run("first", summary=BLESSED)
    folder = make_run("second", report=False, overrides=["training.steps=77"])
    result = firth("compare", "first", str(folder))
    assert result.stdout == "firth-runs/compare_first_second.html\n"
    page = page_of(result)
    assert "120.5" in page and "77" in page and "unfinished" in page


def test_a_history_is_read_wherever_the_training_left_it(firth, make_run):
    finished = make_run("finished", summary=TRAINED)
    write_history(finished, "pipeline/Trainer/model_run/7", 3, mtime=1)
    write_history(finished, "pipeline/Trainer/model_run/9", 5)
    write_history(make_run("stopped"), "checkpoints/0a1b", 4)
    write_history(make_run("changed"), "checkpoints/0a1b", 6, mtime=1)
    page = page_of(firth("compare", "finished", "stopped", "changed"))
    assert [f"{steps} of 1,200" in page for steps in (3, 4, 0)] == [True] * 3


def test_the_history_is_that_of_the_last_attempt_whatever_the_times_of_the_files(firth, make_run):
    """A copy of a folder gives its files other times."""
    killed, stopped = make_run("killed"), make_run("stopped")
    write_history(killed, "pipeline/Trainer/model_run/9", 5, mtime=4e9)
    write_history(killed, "pipeline/Trainer/model_run/10", 3)
    write_history(killed, "checkpoints/0a1b", 8, mtime=4e9)
    write_history(stopped, "checkpoints/0a1b", 7)
    write_history(stopped, "checkpoints/0a1b-2", 2, mtime=4e9)
    page = page_of(firth("compare", "killed", "stopped"))
    assert [f"{steps} of 1,200" in page for steps in (3, 7, 2, 5, 8)] == [True, True, False, False, False]


def test_metrics_from_before_the_recipe_changed_are_another_models(firth, make_run):
    make_run("first")
    os.utime(make_run("second", summary=BLESSED) / "run.json", (1, 1))
    page = page_of(firth("compare", "first", "second"))
    assert "120.5" not in page and "Metrics were not recorded" in page


def test_runs_of_the_same_name_are_told_apart_by_their_folders(firth, make_run, tmp_path):
    folders = [make_run("same", root=tmp_path / root) for root in ("one", "two")]
    page = page_of(firth("compare", *map(str, folders), "--output", "page.html"))
    assert str(folders[0]) in page and str(folders[1]) in page


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["first", "secnd"], "no run secnd in firth-runs (did you mean second?)"),
        (["first"], "from 2 to 8 runs can be compared, not 1"),
        (["first", "second", "firth-runs/first"], "first is named twice"),
        (
            ["first", "second", "--output", "nowhere/page.html"],
            "nowhere/page.html: No such file",
        ),
    ],
)
def test_what_cannot_be_compared(firth, make_run, tmp_path, arguments, said):
    make_run("first")
    make_run("second")
    result = firth("compare", *arguments)
    assert result.exit_code == 2 and said in result.stderr and result.stdout == ""
    assert not list(tmp_path.rglob("compare*"))


def test_more_runs_than_can_be_told_apart(firth, make_run):
    names = [make_run(f"run{place}").name for place in range(9)]
    assert "from 2 to 8 runs can be compared, not 9" in firth("compare", *names).stderr
