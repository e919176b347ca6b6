"""What setup.py packages and requires, compared with what is in the folder and in BUILD."""

import ast
import pathlib
import re
import subprocess
import sys

from tests.architecture_test import TARGETS

REPOSITORY = pathlib.Path(__file__).parents[1]


def test_all_files_but_caches_are_in_the_wheel(tmp_path):
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    packaged = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    there = {path.relative_to(REPOSITORY) for path in (REPOSITORY / "firth").rglob("*") if path.is_file()}
    assert packaged == {path for path in there if "__pycache__" not in path.parts}
    assert {pathlib.Path("firth/py.typed"), pathlib.Path("firth/training/__init__.pyi")} <= packaged


def test_setup_requires_what_build_lists():
    listed = {distribution.replace("_", "-") for _, outer in TARGETS.values() for distribution in outer}
    always, for_buckets = required("INSTALL_REQUIRES"), required("S3")
    assert always <= listed <= always | for_buckets


def required(variable: str) -> set[str]:
    """Returns the names of the distributions that a list of setup.py has."""
    for node in ast.parse((REPOSITORY / "setup.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == variable:
            texts = [each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)]
            names = [match[0] for text in texts if (match := re.match(r"[A-Za-z][\w.-]*", text))]
            return {re.sub(r"[-_.]+", "-", name).lower() for name in names}
    raise AssertionError(f"no {variable}")
