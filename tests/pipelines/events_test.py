import datetime
import json
import logging
import subprocess

import absl.logging
import psutil
import pytest
import tensorflow as tf

from firth.pipelines.events import ComponentEvents, PeakMemory, Timings, reporting, resident_bytes


@pytest.fixture
def events():
    return []


def test_components_start_and_end(events):
    with reporting(events.append) as components:
        components.start("Curator")
        components.end("finished")
        components.start("Trainer")
        components.end("cached")
    states = [(event["name"], event["state"]) for event in events]
    assert states == [
        ("Curator", "running"),
        ("Curator", "finished"),
        ("Trainer", "running"),
        ("Trainer", "cached"),
    ]
    assert all(event["seconds"] >= 0 and event["peak_bytes"] > 0 for event in events[1::2])
    assert all(datetime.datetime.fromisoformat(event["ended"]).tzinfo for event in events[1::2])


def test_what_tfx_says_is_logged_after_a_model_was_saved(events, tmp_path, caplog):
    module = tf.Module()
    module.f = tf.function(lambda: tf.constant(1), input_signature=[])
    before = absl.logging.get_verbosity()
    with reporting(events.append):
        tf.saved_model.save(module, str(tmp_path))
        absl.logging.get_absl_logger().addHandler(caplog.handler)
        absl.logging.info("Component Trainer is running.")
    assert "Component Trainer is running." in caplog.messages
    assert events == []
    assert absl.logging.get_verbosity() == before


def test_training_progress_passes_through(events):
    with reporting(events.append):
        logging.getLogger("firth.progress").info("step", extra={"firth": {"kind": "training", "step": 3}})
    assert events == [{"kind": "training", "step": 3}]


def test_a_failed_component_ends_once(events):
    with PeakMemory() as memory:
        components = ComponentEvents(events.append, memory)
        components.start("Trainer")
        components.end("failed")
        components.end("failed")
    assert [event["state"] for event in events] == ["running", "failed"]


def test_memory_is_sampled_a_few_times_a_second(monkeypatch):
    samples = []
    monkeypatch.setattr("firth.pipelines.events.resident_bytes", lambda children=(): samples.append(1) or 1)
    with PeakMemory() as memory:
        memory._stop.wait(0.05)
    assert len(samples) <= 1


def test_children_are_looked_for_once_a_second_and_count_in_each_sample(monkeypatch):
    samples = []
    monkeypatch.setattr(
        "firth.pipelines.events.resident_bytes", lambda children=(): samples.append(children) or 1
    )
    looked = iter([["a child"]])
    monkeypatch.setattr("psutil.Process.children", lambda *_, recursive: next(looked))
    with PeakMemory(interval_seconds=0.001) as memory:
        while len(samples) < 3:
            memory._stop.wait(0.001)
    assert samples[:3] == [["a child"]] * 3


def test_the_memory_of_children_is_counted():
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            alone, both, process = resident_bytes([]), resident_bytes(), psutil.Process(child.pid)
        finally:
            child.kill()
    assert both > alone
    # One that has ended is passed over.
    assert resident_bytes([process]) > 0


def test_peak_memory_sees_a_large_allocation():
    with PeakMemory(interval_seconds=0.01) as memory:
        memory.reset()
        before = memory.peak_bytes
        block = bytearray(64 * 2**20)
        block[::4096] = b"x" * len(block[::4096])
        deadline = 200
        while memory.peak_bytes < before + 50 * 2**20 and deadline:
            memory._stop.wait(0.01)
            deadline -= 1
    assert memory.peak_bytes >= before + 50 * 2**20


def test_a_cached_component_keeps_the_figures_of_the_run_that_made_it(tmp_path):
    path = tmp_path / "timings.json"
    ran = {"kind": "component", "name": "Trainer", "state": "finished", "seconds": 9.0, "ended": "2026"}
    Timings(path).record(ran)
    Timings(path).record({**ran, "state": "cached", "seconds": 0.1})
    assert json.loads(path.read_text()) == {"Trainer": {"state": "finished", "seconds": 9.0, "ended": "2026"}}
