"""Processes on this machine that start workers of Beam: a pool, and a job service with its options."""

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

CHECKOUT = pathlib.Path(__file__).parents[3]


def boot_script(folder):
    """Returns the path of a program that starts a worker, as the installed `firth-beam-worker` does."""
    script = folder / "firth-beam-worker"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m firth.corpus.workers.boot "$@"\n')
    script.chmod(0o755)
    return script


@contextlib.contextmanager
def job_service(folder, **variables):
    """Gives options of Beam; workers have variables of the environment, and print to a file in the folder."""
    port, log_path = folder / "port", folder / "service.log"
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    with open(log_path, "w") as log:
        command = [sys.executable, "-m", "tests.corpus.workers.job_server", str(port)]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment)
    try:
        until = time.monotonic() + 120
        while not port.exists() or not port.read_text():
            assert server.poll() is None and time.monotonic() < until, log_path.read_text()
            time.sleep(0.1)
        config = {"command": str(boot_script(folder)), "env": variables}
        yield [
            "--runner=PortableRunner",
            f"--job_endpoint=localhost:{port.read_text()}",
            "--environment_type=PROCESS",
            f"--environment_config={json.dumps(config)}",
        ]
    finally:
        server.stdin.close()
        server.terminate()
        server.wait()


@contextlib.contextmanager
def worker_pool(log_path, *arguments):
    """Gives address and id of a process that starts workers when a runner asks for them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "apache_beam.runners.worker.worker_pool_main", f"--service_port={port}"]
    command += arguments
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with open(log_path, "w") as log:
        pool = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        until = time.monotonic() + 120
        while not _answers(port):
            assert pool.poll() is None and time.monotonic() < until, log_path.read_text()
            time.sleep(0.1)
        yield f"localhost:{port}", pool.pid
    finally:
        pool.terminate()
        pool.wait()


def _answers(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
