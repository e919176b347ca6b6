"""The remaining time of a run, estimated from the times of its components in earlier runs."""

import json
import os

import pytest

from firth.pipelines.events import RunEstimate, Timings, earlier_times

COMPONENTS = ["Reader", "Trainer", "Evaluator", "Pusher"]
TIMES = {
    "Reader": {"seconds": 4.0},
    "Trainer": {"seconds": 90.0, "after_steps": 10.0},
    "Evaluator": {"seconds": 20.0},
    "Pusher": {"seconds": 1.0},
}
STEP = {"kind": "training", "step": 5, "steps": 10, "eta_seconds": 30.0}


def started(times=TIMES, clock=lambda: 0.0):
    estimate = RunEstimate(times, clock)
    estimate.begin(COMPONENTS)
    return estimate


def component(name, state="running"):
    return {"kind": "component", "name": name, "state": state}


def test_each_component_and_step_says_what_is_left_of_the_whole_run():
    estimate = started()
    left = {name: estimate.completed(component(name))["left"] for name in COMPONENTS}
    assert left == {"Reader": 115.0, "Trainer": 111.0, "Evaluator": 21.0, "Pusher": 1.0}
    estimate.completed(component("Trainer"))
    # Its steps, the export after them, and two components.
    assert estimate.completed(STEP)["run_left"] == 30.0 + 10.0 + 21.0
    assert estimate.completed({"kind": "estimate", "seconds": 60.0})["run_left"] == 91.0
    assert estimate.completed({**STEP, "eta_seconds": None})["run_left"] is None
    assert estimate.completed({"kind": "notice", "text": "a"}) == {"kind": "notice", "text": "a"}


@pytest.mark.parametrize("lacking", ["Evaluator", "Pusher"])
def test_nothing_is_made_up_where_a_component_is_new(lacking):
    estimate = started({name: said for name, said in TIMES.items() if name != lacking})
    begun = estimate.completed(component("Trainer"))
    assert (begun["number"], begun["of"], begun["left"], begun["unknown"]) == (2, 4, None, 1)
    assert estimate.completed(STEP)["run_left"] is None and estimate.completed(STEP)["unknown"] == 1


def test_the_time_after_the_last_step_is_kept_for_the_next_run(tmp_path):
    now = [0.0]
    estimate, timings = started({}, lambda: now[0]), Timings(tmp_path / "timings.json")
    for seconds, event in (
        (0.0, component("Trainer")),
        (50.0, STEP),
        (62.5, {**component("Trainer", "finished"), "seconds": 62.5, "peak_bytes": 1}),
        (70.0, {**component("Evaluator", "finished"), "seconds": 7.5, "peak_bytes": 1}),
    ):
        now[0] = seconds
        timings.record(estimate.completed(event))
    kept = json.loads((tmp_path / "timings.json").read_text())
    assert kept["Trainer"]["after_steps"] == 12.5 and "after_steps" not in kept["Evaluator"]


def test_the_times_of_the_own_folder_come_before_those_of_the_newest_other(tmp_path):
    runs = {
        "own": {
            "Trainer": {"state": "finished", "seconds": 1.0},
            "Pusher": {"state": "failed", "seconds": 9},
        },
        "old": {"Trainer": {"seconds": 2.0}, "Evaluator": {"seconds": 2.0}, "Pusher": {"seconds": 2.0}},
        "new": {"Trainer": {"seconds": 3.0}, "Evaluator": {"state": "cached", "seconds": 3.0}},
        "broken": {"Evaluator": 3, "Reader": {"seconds": "x"}},
    }
    for when, (name, timings) in enumerate(runs.items(), start=1):
        (tmp_path / name).mkdir()
        (tmp_path / name / "timings.json").write_text(json.dumps(timings))
        os.utime(tmp_path / name / "timings.json", (when, when))
    found = {name: said["seconds"] for name, said in earlier_times(tmp_path / "own").items()}
    assert found == {"Trainer": 1.0, "Evaluator": 3.0, "Pusher": 2.0}
    assert earlier_times(tmp_path / "none" / "there") == {}
    for name in ("old", "new"):
        runs[name]["Evaluator"]["ended"] = f"{'2026' if name == 'old' else '2025'}-03-01T00:00:00+00:00"
        (tmp_path / name / "timings.json").write_text(json.dumps(runs[name]))
    assert earlier_times(tmp_path / "own")["Evaluator"]["seconds"] == 2.0
