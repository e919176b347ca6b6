"""Recipes and options that cannot work are refused before TensorFlow is loaded or anything is started."""

import json
import subprocess
import sys

import pytest

from tests.cli import broken_recipes

WORDS = {
    **{name: words for name, (_, words) in broken_recipes.FILES.items()},
    **broken_recipes.OPTIONS,
    **broken_recipes.COMMANDS,
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    folder = tmp_path_factory.mktemp("broken")
    command = [sys.executable, broken_recipes.__file__]
    process = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert process.returncode == 0, process.stderr[-2000:]
    return folder, json.loads(process.stdout)


@pytest.mark.parametrize("case", WORDS)
def test_it_is_refused_in_words(tried, case):
    folder, found = tried
    code, error = found["answers"][case]
    assert code == 2, error
    assert WORDS[case].replace("{here}", str(folder)) in error
    assert "unexpected" not in error and "Traceback" not in error
    assert error.startswith(("error: ", "Usage: ")), error


def test_nothing_heavy_is_loaded_and_no_folder_made(tried):
    _, found = tried
    assert found["loaded"] == []
    assert found["made"] == ["folder", "folder.yaml", "good.txt", "good.yaml", "mine.yaml"]


def test_there_are_many():
    assert len(WORDS) >= 70
