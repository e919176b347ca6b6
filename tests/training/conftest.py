import signal

import pytest

from tests.training.eagerly import eagerly


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


@pytest.fixture
def ctrl_c():
    """Lets SIGINT be heard, which shells make ignored in what they run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
