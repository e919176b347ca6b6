# At once, so that its look-ups are remembered where these tests run alone.
import apache_beam  # noqa: F401
import pytest

from tests.forked_validation import forked_validation
from tests.pipelines.bucket_server import serving
from tests.reports.remembered_plots import plots_drawn_once


@pytest.fixture(scope="package", autouse=True)
def _validation_in_forks():
    """Pipelines of this folder validate their models without importing TensorFlow anew."""
    with forked_validation():
        yield


@pytest.fixture(scope="package", autouse=True)
def _plots_once():
    """Reruns in the same folder show the plots of the run before."""
    with plots_drawn_once({}):
        yield


@pytest.fixture
def bucket_server(tmp_path):
    """The environment variables with which `s3://` is a server on this machine."""
    with serving(tmp_path / "server.txt") as environment:
        yield environment
