"""Folders that are made once."""

import threading

import pytest

from tests.made_once import MadeOnce


def test_the_first_one_makes_it_and_others_wait(tmp_path):
    made, started, folders = [], threading.Event(), []

    def make(folder):
        started.set()
        folder.mkdir()
        made.append(folder.name)
        (folder / "a").write_text("1")

    def ask():
        folders.append(MadeOnce(tmp_path)("x", make))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(made) == 1 and {(each / "a").read_text() for each in folders} == {"1"}


def test_what_fails_on_the_way_is_made_anew(tmp_path):
    def fail(folder):
        folder.mkdir()
        (folder / "half").touch()
        raise ValueError

    with pytest.raises(ValueError):
        MadeOnce(tmp_path)("x", fail)
    folder = MadeOnce(tmp_path)("x", lambda folder: folder.mkdir())
    assert list(folder.iterdir()) == []
