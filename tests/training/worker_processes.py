"""Trainings in several processes on this machine, each with a TF_CONFIG of its own."""

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence


def free_ports(count: int) -> list[int]:
    """Returns numbers of ports that nobody listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def cluster(ports: Sequence[int], index: int) -> str:
    """Returns the TF_CONFIG of one of some workers."""
    workers = [f"127.0.0.1:{port}" for port in ports]
    return json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}})


@contextlib.contextmanager
def started(commands: Sequence[Sequence[str]]) -> Iterator[list[subprocess.Popen]]:
    """Yields a process for each command, the workers of one cluster; those that still run at the end are
    killed."""
    ports = free_ports(len(commands))
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", *map(str, command)],
            env={**os.environ, "TF_CONFIG": cluster(ports, index)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for index, command in enumerate(commands)
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()
