"""Work in a process of its own: what it returns, how it ends, and signals that are handed on to it."""

import os
import pathlib
import signal
import threading
import time

import pytest
import typer

from firth.cli.execution import run_in_own_process


def where(folder):
    return os.getpid(), os.environ["TMPDIR"], pathlib.Path(os.environ["TMPDIR"]).is_dir(), folder


def end(status):
    raise typer.Exit(status)


def wait_for_a_signal(folder):
    number = signal.SIGTERM
    signal.signal(number, lambda *_: (folder / "told").touch())
    (folder / "ready").touch()
    while not (folder / "told").exists():
        time.sleep(0.01)
    raise typer.Exit(143)


def test_it_returns_what_a_process_of_its_own_made_which_leaves_no_files():
    process, temporary, was_there, folder = run_in_own_process(where, pathlib.Path("given"))
    assert process != os.getpid() and folder == pathlib.Path("given")
    assert was_there and not pathlib.Path(temporary).exists()


@pytest.mark.parametrize("status", [1, 3])
def test_a_bad_end_is_the_end_of_the_command(status):
    with pytest.raises(typer.Exit) as caught:
        run_in_own_process(end, status)
    assert caught.value.exit_code == status


def test_a_signal_is_handed_on_and_its_end_is_waited_for(tmp_path):
    def send():
        while not (tmp_path / "ready").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=send).start()
    with pytest.raises(typer.Exit) as caught:
        run_in_own_process(wait_for_a_signal, tmp_path)
    assert caught.value.exit_code == 143 and (tmp_path / "told").exists()
