import signal

import pytest

from firth.training import pretraining
from tests.training.artifacts import write_artifact
from tests.training.eagerly import eagerly
from tests.training.traced_objectives import trace_once


@pytest.fixture(autouse=True, scope="package")
def _objectives_traced_once():
    """Traces an objective once for all trainings of this folder, which takes a fifth of a short one."""
    with pytest.MonkeyPatch.context() as patch:
        made = {kind: trace_once(objective) for kind, objective in pretraining.OBJECTIVES.items()}
        patch.setattr(pretraining, "OBJECTIVES", made)
        yield


@pytest.fixture
def eager():
    """Steps of one test that are not compiled."""
    with eagerly():
        yield


@pytest.fixture(scope="module")
def eager_steps():
    """Steps of all tests of a file that are not compiled."""
    with eagerly():
        yield


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    """The folder of rows and a tokenizer, of which no test changes anything."""
    directory = tmp_path_factory.mktemp("artifact")
    write_artifact(directory)
    return directory


@pytest.fixture
def ctrl_c():
    """Lets SIGINT be heard, which shells make ignored in what they run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
