import importlib
import sys

import pytest

from firth.cli.output import import_without_logs

LOGS = [
    "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
    "I0000 00:00:1.2 3 port.cc:153] oneDNN custom operations are on.",
    "W0000 00:00:1.2 3 a.cc:1] a warning",
]
OTHERS = ["E0000 00:00:1.2 3 b.cc:2] an error", "a line"]


@pytest.mark.parametrize("fails", [False, True])
def test_logs_of_an_import_are_hidden(fails, tmp_path, monkeypatch, capfd):
    lines = "".join(f"{line}\n" for line in [*LOGS, *OTHERS])
    end = "raise OSError" if fails else ""
    (tmp_path / "firth_test_noisy.py").write_text(f"import os\nos.write(2, {lines.encode()!r})\n{end}\n")
    monkeypatch.syspath_prepend(tmp_path)
    finders = [*sys.meta_path]
    import_without_logs("firth_test_noisy")
    import_without_logs("sys")
    if fails:
        with pytest.raises(OSError):
            importlib.import_module("firth_test_noisy")
    else:
        module = importlib.import_module("firth_test_noisy")
        importlib.reload(module)
        del sys.modules["firth_test_noisy"]
    expected = [*OTHERS] if fails else [*OTHERS, *LOGS, *OTHERS]
    assert capfd.readouterr().err.splitlines() == expected
    assert sys.meta_path == finders
