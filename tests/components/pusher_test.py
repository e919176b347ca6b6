"""A version is pushed as a whole, under the number after the highest."""

import itertools
import time

import pytest
from tfx.proto import pusher_pb2
from tfx.types import standard_artifacts
from tfx.utils import proto_utils

from firth import storage
from firth.components import pusher as executor
from firth.components.pusher import Executor
from firth.serving.exported_model import NoModelError, newest_model, next_version


@pytest.fixture
def push(tmp_path):
    """Pushes a model of two files, and returns the folder of versions and the artifact."""
    exported = tmp_path / "model" / "Format-Serving"
    (exported / "variables").mkdir(parents=True)
    (exported / "saved_model.pb").write_bytes(b"graph")
    (exported / "variables" / "variables.index").write_bytes(b"weights")
    model = standard_artifacts.Model()
    model.uri = str(tmp_path / "model")
    numbers = itertools.count()

    def call(serving=tmp_path / "serving"):
        pushed = standard_artifacts.PushedModel()
        pushed.uri = str(tmp_path / "pushed" / str(next(numbers)))
        destination = pusher_pb2.PushDestination()
        destination.filesystem.base_directory = str(serving)
        properties = {"push_destination": proto_utils.proto_to_json(destination), "custom_config": "null"}
        Executor().Do({"model": [model]}, {"pushed_model": [pushed]}, properties)
        return serving, pushed

    return call


def test_a_version_is_recorded_where_it_is(push):
    serving, pushed = push()
    (version,) = serving.iterdir()
    assert pushed.get_string_custom_property("pushed_destination") == str(version)
    assert pushed.get_string_custom_property("pushed_version") == version.name
    assert newest_model(str(serving)) == str(version)
    files = {str(path.relative_to(version)) for path in version.rglob("*") if path.is_file()}
    assert files == {"saved_model.pb", "variables/variables.index"}


@pytest.mark.parametrize("there", [(), (1795000000,), (1795000000, 99999999999), (3, 12)])
def test_versions_rise_by_one_over_the_highest_whatever_the_clock(push, tmp_path, monkeypatch, there):
    serving = tmp_path / "serving"
    for name in (*map(str, there), "notes", "\u00b2", str(2**63)):
        (serving / name / "variables").mkdir(parents=True)
        (serving / name / "saved_model.pb").touch()
    highest = max(there, default=0)
    for number, now in enumerate((4e9, 1e9, 1e9), start=1):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        _, pushed = push()
        assert pushed.get_string_custom_property("pushed_version") == str(highest + number)
        assert newest_model(str(serving)) == str(serving / str(highest + number))


def test_a_version_that_another_pusher_took_meanwhile_is_left_alone(push, tmp_path, monkeypatch):
    serving, asked = tmp_path / "serving", []

    def next_but_late(versions):
        asked.append(next_version(versions))
        if len(asked) == 1:
            (serving / asked[0]).mkdir()
            (serving / asked[0] / "saved_model.pb").write_bytes(b"other")
        return asked[-1]

    monkeypatch.setattr(executor, "next_version", next_but_late)
    _, pushed = push()
    assert asked == ["1", "2"] and pushed.get_string_custom_property("pushed_version") == "2"
    assert (serving / "1" / "saved_model.pb").read_bytes() == b"other"


def test_a_bucket_gets_the_number_after_the_highest_too(push, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "is_local", lambda path: False)
    (tmp_path / "serving" / "41").mkdir(parents=True)
    serving, _ = push()
    assert newest_model(str(serving)) == str(serving / "42")


def test_nothing_is_served_of_a_model_for_which_there_is_no_room(push, tmp_path, monkeypatch):
    copy = storage.copy_file

    def copy_half(source, target):
        if "serving" in target and target.endswith("saved_model.pb"):
            raise OSError(28, "No space left on device", target)
        copy(source, target)

    monkeypatch.setattr(storage, "copy_file", copy_half)
    with pytest.raises(OSError):
        push()
    assert list((tmp_path / "serving").iterdir()) == []
    with pytest.raises(NoModelError):
        newest_model(str(tmp_path / "serving"))
