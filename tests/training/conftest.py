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
