import pytest

from tests.pipelines.bucket_server import serving


@pytest.fixture
def bucket_server(tmp_path):
    """The environment variables with which `s3://` is a server on this machine."""
    with serving(tmp_path / "server.txt") as environment:
        yield environment
