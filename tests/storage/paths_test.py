import sys

import pytest

from firth.storage import paths
from firth.storage.paths import register_s3


def test_s3_is_refused_without_tensorflow_io(monkeypatch):
    """The second stack has none."""
    monkeypatch.setitem(sys.modules, "tensorflow_io", None)
    monkeypatch.setattr(paths, "register_s3", register_s3.__wrapped__)
    with pytest.raises(ImportError, match=r"^s3://bucket/run: .* Python 3\.10 .*'firth\[s3\]'$"):
        paths.gfile_of("s3://bucket/run")
