"""Python packages are found, or named as missing."""

import sys
import types

from firth.recipes.run.packages import find_package


def test_a_module_that_was_never_imported_is_no_package(monkeypatch):
    # As `__main__` of a script is.
    monkeypatch.setitem(sys.modules, "script", types.ModuleType("script"))
    assert find_package("script") is None
