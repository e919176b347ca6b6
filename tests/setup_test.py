"""Files and requirements of setup.py, compared with the folder and BUILD; the lock that `make` chooses."""

import ast
import os
import pathlib
import re
import subprocess
import sys

import pytest

from scripts.docs.build_file import read_targets

REPOSITORY = pathlib.Path(__file__).parents[1]
TARGETS = read_targets((REPOSITORY / "BUILD").read_text())


def test_all_files_but_caches_are_in_the_wheel(tmp_path):
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    packaged = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    there = {path.relative_to(REPOSITORY) for path in (REPOSITORY / "firth").rglob("*") if path.is_file()}
    assert packaged == {path for path in there if "__pycache__" not in path.parts}
    assert {pathlib.Path("firth/py.typed"), pathlib.Path("firth/training/__init__.pyi")} <= packaged


def test_setup_requires_what_build_lists():
    listed = {distribution.replace("_", "-") for _, outer in TARGETS.values() for distribution in outer}
    always = required("INSTALL_REQUIRES")
    extras = ("S3", "ONNX", "CTRANSLATE2", "JAX", "SERVE", "STRUCTURED")
    assert always <= listed <= always.union(*map(required, extras))


def required(variable: str) -> set[str]:
    """Returns the names of the distributions that a list of setup.py has."""
    for node in ast.parse((REPOSITORY / "setup.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == variable:
            texts = [each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)]
            names = [match[0] for text in texts if (match := re.match(r"[A-Za-z][\w.-]*", text))]
            return {re.sub(r"[-_.]+", "-", name).lower() for name in names}
    raise AssertionError(f"no {variable}")


@pytest.mark.parametrize(
    ("glibc", "installed", "chosen"),
    [
        ("2.36", ["3.13"], "3.10"),
        ("2.38", ["3.12", "3.13"], "3.10"),
        ("2.39", ["3.11", "3.12"], "3.12"),
        ("2.41", ["3.11", "3.12", "3.13"], "3.13"),
        ("2.41", ["3.11"], "3.11"),
        ("3.0", ["3.13"], "3.13"),
        ("2.41", [], "3.13"),
        ("", ["3.13"], "3.10"),
    ],
)
def test_the_lock_that_fits_the_machine(tmp_path, glibc, installed, chosen):
    """By the version of glibc and the Pythons that are there."""
    programs = {"getconf": f"echo glibc {glibc}" if glibc else "exit 1"}
    programs |= {f"python3.{minor}": "exit 127" for minor in (11, 12, 13)}
    programs |= {f"python{version}": "exit 0" for version in installed}
    for name, body in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    script = REPOSITORY / "scripts" / "python_version.sh"
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == chosen
    digits = chosen.replace(".", "")
    assert all((REPOSITORY / "requirements" / f"{kind}py{digits}.txt").is_file() for kind in ("", "jax-"))
