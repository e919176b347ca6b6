"""A server of firth next to a Hugging Face model behind the same ASGI server, with batching.

    python -m benchmarks.serving embed classify                    # L4 H256 and BERT-base, 32 and 128 tokens
    python -m benchmarks.serving embed --sizes small --tokens 32 --clients 1 16 --seconds 5
    python -m benchmarks.serving generation                        # GPT-2 small's size, 1 and 8 clients
    python -m benchmarks.serving embed --torch-python PYTHON       # or FIRTH_TORCH_PYTHON=PYTHON

Weights are random, and the peers read the same ones from firth's export. Texts are of one length, random
words of the tokenizer. All servers are alive at once and are asked in turn, `--rounds` times; clients
are threads of a process of their own, which keep their connections. Figures are of all rounds together. A row
where torch is ahead is marked BEHIND. Memory is the peak of the server's process.

`generation` asks `/v1/completions`, 32 tokens after prompts of 32: tokens/s of the server next to those of
`ContinuousBatcher` alone in a process of its own, the time to the first token, and the time from the start of
`firth serve` to its first answer.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import contextlib
import dataclasses
import datetime
import http.client
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

SIZES = {
    "small": {"model.layers": 4, "model.width": 256, "model.attention.heads": 4},
    "bert_base": {},
}
FIRTH = "firth"
PEERS = ("torch", "onnxruntime")
PATHS = {"embed": "/v1/embeddings", "classify": "/v1/classify"}
WORDS = 2000


@dataclasses.dataclass
class Server:
    """A server in a process of its own."""

    process: subprocess.Popen
    port: int

    @property
    def peak_megabytes(self) -> float:
        """Peak of its resident memory."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024


@contextlib.contextmanager
def serving(command: list[str], port: int | None = None) -> Iterator[Server]:
    """Gives a server that answers; without a port it prints its own."""
    root = pathlib.Path(__file__).parents[1]
    # The log of firth is not read.
    process = subprocess.Popen(command, cwd=root, text=True, stdout=-1, stderr=subprocess.DEVNULL)
    try:
        if port is None:
            port = int(process.stdout.readline())
        else:
            wait_until_ready(process, port)
        yield Server(process, port)
    finally:
        process.terminate()
        process.wait()


def wait_until_ready(process: subprocess.Popen, port: int) -> None:
    """Returns once a server is ready."""
    while process.poll() is None:
        with contextlib.suppress(OSError):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        time.sleep(0.02)
    raise RuntimeError(f"the server ended with {process.returncode}")


def free_port() -> int:
    """Returns a port that is free now."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def firth_command(name: str, folder: str, port: int) -> list[str]:
    """Returns the command that serves a model."""
    return [sys.executable, "-W", "ignore", "-m", "firth", "serve", f"{name}={folder}", "--port", str(port)]


def tokenizer_of_words():
    """Returns a WordPiece tokenizer whose words are pieces, and the words."""
    from firth.tokenizers import WordPieceTokenizer, train_wordpiece

    rng = random.Random(0)
    words = sorted({"".join(rng.choices("abcdefghijklmnopqrst", k=5)) for _ in range(WORDS)})
    return WordPieceTokenizer(train_wordpiece(dict.fromkeys(words, 1000), 4 * WORDS, 1)), words


def make(task: str, size: str, folder: str) -> tuple[str, str, list[str]]:
    """Writes the export of a model and a Hugging Face folder; returns both, and the words."""
    import firth

    tokenizer, words = tokenizer_of_words()
    overrides = {**SIZES[size], "sequences.length": 512, "export.warmup_requests": 1}
    model = firth.create("bert_base", tokenizer=tokenizer, overrides=overrides)
    if task == "classify":
        rng = random.Random(1)
        records = [{"text": " ".join(rng.choices(words, k=8)), "label": "ab"[n % 2]} for n in range(32)]
        model = model.finetune(records, text="text", label="label", task="classification", epochs=1)
    served, published = os.path.join(folder, "served", "1"), os.path.join(folder, "published")
    model.export(served)
    model.export(published, format="hf")
    return os.path.dirname(served), published, words


def encoders(task: str, options: argparse.Namespace) -> Iterator[list[str]]:
    """Yields rows of figures of one task."""
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            served, published, words = make(task, size, folder)
            port = free_port()
            servers = {FIRTH: stack.enter_context(serving(firth_command("model", served, port), port))}
            for peer in PEERS if options.torch_python else ():
                command = [options.torch_python, "-W", "ignore", "-m", "benchmarks.workers.serving_peer"]
                servers[peer] = stack.enter_context(serving([*command, published, task, peer]))
            for tokens in options.tokens:
                rng = random.Random(tokens)
                # The first and the last token are the special ones.
                texts = [" ".join(rng.choices(words, k=tokens - 2)) for _ in range(64)]
                bodies = [{"model": "model", "input": text} for text in texts]
                if task == "embed":
                    bodies = [{**each, "encoding_format": "base64"} for each in bodies]
                for clients in options.clients:
                    found = in_turn(servers, PATHS[task], bodies, clients, options)
                    yield row(f"{task}, {size}, {tokens} tokens, {clients} clients", found, servers)


def in_turn(servers: dict[str, Server], path: str, bodies: list, clients: int, options) -> dict:
    """Returns the seconds of all answers, and the whole, of each server."""
    found = {name: {"answers": [], "seconds": 0.0} for name in servers}
    for number in range(options.rounds + 1):
        for name, server in servers.items():
            seconds = options.seconds if number else 1.0
            asked = ask(server.port, path, bodies, clients, seconds)
            # The first round compiles what is compiled at first.
            if number:
                found[name]["answers"] += asked["answers"]
                found[name]["seconds"] += asked["seconds"]
    return found


def ask(port: int, path: str, bodies: list, clients: int, seconds: float) -> dict:
    """Asks a server from another process."""
    work = {"port": port, "path": path, "bodies": bodies, "clients": clients, "seconds": seconds}
    command = [sys.executable, "-m", "benchmarks.workers.serving_clients"]
    done = subprocess.run(command, input=json.dumps(work), text=True, stdout=-1, check=True)
    return json.loads(done.stdout)


def row(title: str, found: dict, servers: dict[str, Server]) -> list[str]:
    """Returns a row: of each server its rate, p50, p99 and memory."""
    cells, rates = [title], {name: len(each["answers"]) / each["seconds"] for name, each in found.items()}
    for name, each in found.items():
        quantiles = statistics.quantiles(each["answers"], n=100)
        ratio = f" ({rates[FIRTH] / rates[name]:.2f})" if name != FIRTH else ""
        p50, p99 = (f"{1000 * quantiles[place]:.1f}" for place in (49, 98))
        cells.append(f"{rates[name]:.1f}/s{ratio}, {p50} / {p99} ms, {servers[name].peak_megabytes:,.0f} MB")
    if "torch" in rates and rates["torch"] > rates[FIRTH]:
        cells[0] += " BEHIND"
    return cells


_ALONE = """
import json, sys, time
from firth.serving import ContinuousBatcher, SlotPrompt
folder, prompts, clients = json.load(sys.stdin)
batcher = ContinuousBatcher(folder)
asked = [SlotPrompt(each, {"max_new_tokens": 32, "min_new_tokens": 32}) for each in prompts]
list(batcher.write(asked[:clients]))
def one_after_another():
    # As clients do that wait for their answer: so many texts at a time.
    waiting = iter(asked)
    for _ in range(clients):
        batcher.join(next(waiting))
    count = 0
    while batcher.free < len(batcher._held):
        for each in batcher.step():
            count += 1
            if each.ended and (following := next(waiting, None)) is not None:
                batcher.join(following)
    return count
begun = time.perf_counter()
tokens = one_after_another()
print(tokens / (time.perf_counter() - begun))
"""


def generation(options: argparse.Namespace) -> Iterator[list[str]]:
    """Yields rows of figures of texts that are written."""
    import firth

    tokenizer, words = tokenizer_of_words()
    with tempfile.TemporaryDirectory() as folder:
        overrides = {"export.slots": 8, "export.warmup_requests": 1, "sequences.length": 128}
        model = firth.create("gpt2_small", tokenizer=tokenizer, overrides=overrides)
        model.export(os.path.join(folder, "1"))
        rng = random.Random(2)
        prompts = [" ".join(rng.choices(words, k=32)) for _ in range(24)]
        parameters = {"max_tokens": 32, "temperature": 0}
        port, begun = free_port(), time.perf_counter()
        with serving(firth_command("model", folder, port), port) as server:
            ready = time.perf_counter() - begun
            first_answer(port, prompts[0], parameters)
            answered = time.perf_counter() - begun
            yield ["from the command to readiness, s", f"{ready:.1f}", "", ""]
            yield ["from the command to the first answer, s", f"{answered:.1f}", "", ""]
            for clients in (1, 8):
                pairs = []
                for _ in range(options.rounds):
                    alone = subprocess.run(
                        [sys.executable, "-W", "ignore", "-c", _ALONE],
                        input=json.dumps([folder, prompts, clients]),
                        text=True,
                        stdout=-1,
                        check=True,
                    )
                    pairs.append((streams(port, prompts, clients, parameters), float(alone.stdout)))
                rates = [rate for (rate, _), _ in pairs]
                first = statistics.median(each for (_, firsts), _ in pairs for each in firsts)
                one, other = statistics.median(rates), statistics.median(each for _, each in pairs)
                yield [
                    f"{clients} clients, tokens/s",
                    f"{one:.1f}",
                    f"{other:.1f} ({one / other:.2f})",
                    f"first token {1000 * first:.0f} ms",
                ]
            yield ["peak memory, MB", f"{server.peak_megabytes:,.0f}", "", ""]


def first_answer(port: int, prompt: str, parameters: dict) -> None:
    """Asks for a text."""
    ask(port, "/v1/completions", [{"model": "model", "prompt": prompt, **parameters}], 1, 0.001)


def streams(port: int, prompts: list[str], clients: int, parameters: dict) -> tuple[float, list[float]]:
    """Returns tokens/s of streams, and the seconds to the first token of each."""
    from concurrent.futures import ThreadPoolExecutor

    def one(prompt: str) -> tuple[int, float]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        body = json.dumps({"model": "model", "prompt": prompt, "stream": True, **parameters})
        begun, first, count = time.perf_counter(), 0.0, 0
        connection.request("POST", "/v1/completions", body, {"Content-Type": "application/json"})
        for line in connection.getresponse():
            if line.startswith(b"data: {"):
                first = first or time.perf_counter() - begun
                count += 1
        return count, first

    begun = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        found = list(pool.map(one, prompts))
    return sum(count for count, _ in found) / (time.perf_counter() - begun), [first for _, first in found]


def main() -> None:
    """Measures, prints tables and writes them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("works", nargs="+", choices=[*PATHS, "generation"])
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--tokens", nargs="+", type=int, default=[32, 128])
    parser.add_argument("--clients", nargs="+", type=int, default=[1, 16])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="seconds of a round")
    parser.add_argument("--torch-python", default=os.environ.get("FIRTH_TORCH_PYTHON"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    date, parts = datetime.date.today().isoformat(), []
    for work in options.works:
        if work == "generation":
            columns, rows = ["", FIRTH, "ContinuousBatcher alone", ""], generation(options)
        else:
            columns, rows = ["", FIRTH, *(PEERS if options.torch_python else ())], encoders(work, options)
        print(" | ".join(columns))
        kept = []
        for each in rows:
            print(" | ".join(each), flush=True)
            kept.append(each)
        parts += [f"{date}, {os.cpu_count()} cores", {"columns": columns, "rows": kept}]
    if options.json:
        options.json.write_text(json.dumps({"title": "Serving", "parts": parts}, indent=1) + "\n")


if __name__ == "__main__":
    main()
