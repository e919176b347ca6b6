"""A server under mixed requests, some of them garbage, with a newer version half way and SIGTERM at the end.

    python -m benchmarks.serving_soak                     # 10,000 requests by 8 clients, some minutes
    python -m benchmarks.serving_soak --requests 500 --json figures.json

Two tiny models of random weights, one that writes in slots and one that fills masks. Each good request has an
answer that is known from the start, with which its answers are compared: TF Serving's REST, completions in
whole and as streams, embeddings, masks, log-probabilities, tokens. One in twenty is garbage: wrong types,
invalid UTF-8, strings of 10 MB, nesting 100,000 deep, connections that are closed half way, unknown names. It
is to be refused with a status of 4xx. The process ends with 1 if an answer differs, a request is lost,
garbage is taken, the server dies, or ends with another status than 0.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import collections
import contextlib
import datetime
import http.client
import json
import math
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from benchmarks.serving import free_port, tokenizer_of_words, wait_until_ready

GARBAGE = 0.05
CLIENTS = 8
_SIZES = {"model.layers": 2, "model.width": 64, "model.attention.heads": 2}


def make_models(folder: str) -> list[str]:
    """Exports two tiny models; returns words that both know."""
    import firth

    tokenizer, words = tokenizer_of_words()
    overrides = {**_SIZES, "sequences.length": 64, "export.warmup_requests": 1}
    masked = {**overrides, "objective.max_predictions": 10}
    firth.create("bert_base", tokenizer=tokenizer, overrides=masked).export(f"{folder}/mask/1")
    writer = {**overrides, "export.slots": 4, "export.top_log_probabilities": 2}
    firth.create("gpt2_small", tokenizer=tokenizer, overrides=writer).export(f"{folder}/writer/1")
    return words


def good_requests(words: list[str]) -> list[tuple[str, dict]]:
    """Returns requests that are answered, each the same way every time."""
    rng, found = random.Random(0), []
    for number in range(12):
        text = " ".join(rng.choices(words, k=rng.randint(2, 30)))
        written = {"model": "writer", "prompt": text, "max_tokens": rng.randint(1, 12), "seed": number}
        found += [
            ("/v1/completions", written),
            ("/v1/completions", {**written, "stream": True}),
            ("/v1/completions", {**written, "echo": True, "logprobs": 1, "temperature": 0}),
            ("/v1/embeddings", {"model": "mask", "input": [text, text[: len(text) // 2] + "."]}),
            ("/v1/fill_mask", {"model": "mask", "input": f"[MASK] {text}"}),
            ("/v1/models/mask:predict", {"signature_name": "embed", "instances": [text]}),
            ("/v1/models/writer:predict", {"signature_name": "score", "inputs": {"text": [text]}}),
            ("/tokenize", {"model": "writer", "prompt": text}),
        ]
    return found


def garbage(number: int) -> tuple[str, bytes, str]:
    """Returns the address, the body and the kind of a request that is refused."""
    big = b'{"model": "writer", "prompt": "' + b"a" * 10_000_000 + b'"}'
    kinds = {
        "wrong type": ("/v1/completions", b'{"model": "writer", "prompt": {"a": 1}}'),
        "no JSON": ("/v1/embeddings", b"{"),
        "invalid UTF-8": ("/v1/completions", b'{"model": "writer", "prompt": "\xff\xfe"}'),
        "10 MB": ("/v1/completions", big),
        "deep": ("/v1/models/mask:predict", b'{"instances": ' + b"[" * 100_000),
        "unknown model": ("/v1/completions", b'{"model": "wrtier", "prompt": "a"}'),
        "unknown parameter": ("/v1/completions", b'{"model": "writer", "prompt": "a", "tmperature": 1}'),
        "unknown path": ("/v1/models/../../etc/passwd:predict", b"{}"),
        "huge number": ("/v1/completions", b'{"model": "writer", "prompt": "a", "max_tokens": 1e400}'),
        "schema": (
            "/v1/chat/completions",
            b'{"model": "writer", "messages": [], "response_format": {"type": "json_schema"}}',
        ),
        "wrong shape": ("/v1/models/mask:predict", b'{"signature_name": "embed", "instances": [["a"], 3]}'),
        "half closed": ("/v1/completions", b""),
    }
    kind = list(kinds)[number % len(kinds)]
    return (*kinds[kind], kind)


class Soak:
    """Asks a server from several threads, and counts what comes back.

    Args:
        port: Port of the server.
        requests: Requests that are answered.
        total: Number of requests.
    """

    def __init__(self, port: int, requests: list[tuple[str, dict]], total: int) -> None:
        self.port, self.requests, self.total = port, requests, total
        self.counts: collections.Counter[str] = collections.Counter()
        self.faults: list[str] = []
        self.expected: dict[int, object] = {}
        self.done = 0
        self._lock = threading.Lock()

    def learn(self) -> None:
        """Keeps the answer to each good request."""
        for number, (path, body) in enumerate(self.requests):
            status, content = self.ask(path, json.dumps(body).encode())
            if status != 200:
                raise SystemExit(f"{path} {body}: {status} {content[:300]!r}")
            self.expected[number] = stable(content)

    def ask(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Returns the status and the answer of a request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        with contextlib.closing(connection):
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()

    def run(self, at_half: threading.Thread) -> None:
        """Asks all requests; starts a thread once half of them are answered."""
        numbers, half = iter(range(self.total)), self.total // 2

        def client(seed: int) -> None:
            rng = random.Random(seed)
            while True:
                with self._lock:
                    number = next(numbers, None)
                if number == half:
                    at_half.start()
                if number is None:
                    return
                if rng.random() < GARBAGE:
                    self._garbage(rng.randrange(1000))
                else:
                    self._good(rng.randrange(len(self.requests)))
                self.done += 1

        threads = [threading.Thread(target=client, args=[seed]) for seed in range(CLIENTS)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        at_half.join()

    def _good(self, number: int) -> None:
        path, body = self.requests[number]
        while True:
            try:
                status, content = self.ask(path, json.dumps(body).encode())
            except OSError as error:
                self.fault(f"{path}: lost: {error!r}")
                return
            if status != 429:
                break
            self.count("429, asked again")
            time.sleep(0.05)
        if status != 200:
            self.fault(f"{path} {body}: {status} {content[:300]!r}")
        elif not same(stable(content), self.expected[number]):
            self.fault(f"{path} {body}: another answer than before")
        else:
            self.count("good, answered as expected")

    def _garbage(self, number: int) -> None:
        path, body, kind = garbage(number)
        if kind == "half closed":
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)) as raw:
                raw.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{")
            self.count("garbage, closed half way")
            return
        try:
            status, _ = self.ask(path, body)
        except OSError:
            # A server may close on a body that it does not read to its end.
            self.count("garbage, connection closed")
            return
        if 400 <= status < 500:
            self.count("garbage, refused")
        else:
            self.fault(f"garbage, {kind}: {status}")

    def count(self, kind: str) -> None:
        """Counts an answer."""
        with self._lock:
            self.counts[kind] += 1

    def fault(self, fault: str) -> None:
        """Keeps a fault."""
        with self._lock:
            self.faults.append(fault)


def stable(content: bytes) -> object:
    """Returns an answer without its id and time."""
    if content.startswith(b"data: "):
        lines = [line[6:] for line in content.split(b"\n") if line.startswith(b"data: {")]
        texts = [json.loads(line)["choices"] for line in lines]
        return "".join(each[0]["text"] for each in texts if each)
    found = json.loads(content)
    return {name: each for name, each in found.items() if name not in ("id", "created")}


def same(one: object, other: object) -> bool:
    """Returns whether two answers are the same, but for rounding and for the padding of a batch."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        rest = [*one[len(other) :], *other[len(one) :]]
        return all(each in ("", 0) for each in rest) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-5)
    return one == other


def megabytes(pid: int) -> float:
    """Returns the resident memory of a process."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def push(folder: str) -> None:
    """Pushes a second version of each model, whole at once."""
    for name in ("mask", "writer"):
        shutil.copytree(f"{folder}/{name}/1", f"{folder}/{name}/.unfinished")
        os.rename(f"{folder}/{name}/.unfinished", f"{folder}/{name}/2")


def end(soak: Soak, process: subprocess.Popen, words: list[str]) -> None:
    """Sends SIGTERM while texts are written, which must come to their end."""
    body = {"model": "writer", "prompt": words[0], "max_tokens": 30, "temperature": 0}
    found: list[int] = []
    asked = [
        threading.Thread(
            target=lambda: found.append(soak.ask("/v1/completions", json.dumps(body).encode())[0])
        )
        for _ in range(CLIENTS)
    ]
    for each in asked:
        each.start()
    time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    for each in asked:
        each.join()
    soak.counts["answered after SIGTERM"] = found.count(200)
    # A connection that had not been accepted is not a request that was taken.
    if status := process.wait(60):
        soak.fault(f"the server ended with {status}")


def main() -> int:
    """Soaks a server, prints what came back and writes it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        words, port = make_models(folder), free_port()
        command = [sys.executable, "-W", "ignore", "-m", "firth", "serve"]
        command += [f"mask={folder}/mask", f"writer={folder}/writer", "--port", str(port)]
        with open(f"{folder}/log", "w", encoding="utf-8") as log:
            process = subprocess.Popen([*command, "--reload-seconds", "1"], stdout=log, stderr=log)
        wait_until_ready(process, port)
        soak = Soak(port, good_requests(words), options.requests)
        soak.learn()
        begun, memory = time.perf_counter(), [megabytes(process.pid)]
        watch = threading.Thread(target=lambda: _watch(soak, process.pid, memory), daemon=True)
        watch.start()
        soak.run(threading.Thread(target=push, args=[folder]))
        seconds = time.perf_counter() - begun
        if (versions := newest(port)) != ["2", "2"]:
            soak.fault(f"the newest versions are {versions}")
        end(soak, process, words)
        log_text = pathlib.Path(folder, "log").read_text(encoding="utf-8")
        if '"status": 500' in log_text:
            soak.fault("the server answered with 500")
    rows = [[name, f"{count:,}"] for name, count in sorted(soak.counts.items())]
    rows += [
        ["requests a second", f"{options.requests / seconds:.0f}"],
        ["memory by tenths, MB", ", ".join(f"{each:,.0f}" for each in memory)],
        ["faults", f"{len(soak.faults):,}"],
    ]
    for each in rows:
        print(" | ".join(each))
    for each in soak.faults[:20]:
        print(each, file=sys.stderr)
    if options.json:
        part = {"columns": ["", ""], "rows": rows}
        title = f"{datetime.date.today().isoformat()}, {os.cpu_count()} cores, {options.requests:,} requests"
        options.json.write_text(json.dumps({"title": "Soak", "parts": [title, part]}, indent=1) + "\n")
    return 1 if soak.faults else 0


def newest(port: int) -> list[str]:
    """Returns the versions that answer, which a server that loads them may take a while to have."""
    for _ in range(60):
        said = [json.loads(_get(port, f"/v1/models/{name}")) for name in ("mask", "writer")]
        states = [each["model_version_status"] for each in said]
        found = [next(v["version"] for v in each if v["state"] == "AVAILABLE") for each in states]
        if found == ["2", "2"]:
            break
        time.sleep(1)
    return found


def _get(port: int, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    return connection.getresponse().read()


def _watch(soak: Soak, pid: int, memory: list[float]) -> None:
    tenth = 1
    while tenth <= 10:
        if soak.done >= tenth * soak.total // 10:
            memory.append(megabytes(pid))
            tenth += 1
        time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main())
