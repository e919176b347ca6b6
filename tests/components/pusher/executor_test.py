"""A version is pushed as a whole."""

import pytest
from tfx.proto import pusher_pb2
from tfx.types import standard_artifacts
from tfx.utils import io_utils, proto_utils

from firth.components.pusher.executor import Executor
from firth.serving.versions import NoModelError, newest_model


@pytest.fixture
def push(tmp_path):
    """Pushes a model of two files, and returns the folder of versions and the artifact."""
    exported = tmp_path / "model" / "Format-Serving"
    (exported / "variables").mkdir(parents=True)
    (exported / "saved_model.pb").write_bytes(b"graph")
    (exported / "variables" / "variables.index").write_bytes(b"weights")
    model, pushed = standard_artifacts.Model(), standard_artifacts.PushedModel()
    model.uri, pushed.uri = str(tmp_path / "model"), str(tmp_path / "pushed")
    destination = pusher_pb2.PushDestination()
    destination.filesystem.base_directory = str(tmp_path / "serving")
    properties = {
        "push_destination": proto_utils.proto_to_json(destination),
        "custom_config": "null",
    }

    def call():
        Executor().Do({"model": [model]}, {"pushed_model": [pushed]}, properties)
        return tmp_path / "serving", pushed

    return call


def test_a_version_is_recorded_where_it_is(push):
    serving, pushed = push()
    (version,) = serving.iterdir()
    assert pushed.get_string_custom_property("pushed_destination") == str(version)
    assert pushed.get_string_custom_property("pushed_version") == version.name
    assert newest_model(str(serving)) == str(version)
    files = {str(path.relative_to(version)) for path in version.rglob("*") if path.is_file()}
    assert files == {"saved_model.pb", "variables/variables.index"}


def test_nothing_is_served_of_a_model_for_which_there_is_no_room(push, tmp_path, monkeypatch):
    def copy_half(source, target, overwrite=False):
        with open(target, "wb") as file:
            file.write(b"gr")
        raise OSError(28, "No space left on device", target)

    monkeypatch.setattr(io_utils, "copy_file", copy_half)
    with pytest.raises(OSError):
        push()
    assert list((tmp_path / "serving").iterdir()) == []
    with pytest.raises(NoModelError):
        newest_model(str(tmp_path / "serving"))
