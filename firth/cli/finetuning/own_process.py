"""Work in a process of its own, whose memory is given back when it ends."""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import TypeVar

import typer

Made = TypeVar("Made")
_HANDED_ON = (signal.SIGINT, signal.SIGTERM)


def in_own_process(work: Callable[..., Made], *arguments: object) -> Made:
    """Runs a function in a new process, with this one's output, and returns its result.

    SIGTERM and Ctrl-C are handed on to it, and this process waits for its end. If it does not end well, it
    has said why, and this command ends with its status.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, work, arguments))
    made: list[Made] = []
    with receiver, _signals_handed_on(process):
        process.start()
        # Its end is seen where nobody else holds the pipe.
        sender.close()
        with contextlib.suppress(EOFError):
            made.append(receiver.recv())
        process.join()
    if process.exitcode or not made:
        status = process.exitcode or 1
        raise typer.Exit(128 - status if status < 0 else status)
    return made[0]


@contextlib.contextmanager
def _signals_handed_on(process: multiprocessing.process.BaseProcess) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def hand_on(number: int, frame: object) -> None:
        if process.pid is not None and process.exitcode is None:
            os.kill(process.pid, number)

    previous = {
        number: signal.signal(number, hand_on)
        for number in _HANDED_ON
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _work(sender: Connection, work: Callable[..., object], arguments: tuple[object, ...]) -> None:
    from firth.cli.main import as_process

    def send() -> None:
        try:
            sender.send(work(*arguments))
        except typer.Exit as ended:
            raise SystemExit(ended.exit_code) from None

    as_process(send)
