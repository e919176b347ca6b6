"""Clients of a server, in a process of their own.

    python -m benchmarks.workers.serving_clients < WORK

The work is an object of JSON: `port`, `path`, `bodies` (a client takes the next one), `clients`, `seconds`.
It prints the seconds of each answer and the whole.
"""

import http.client
import itertools
import json
import sys
import threading
import time


def ask(work: dict) -> dict:
    """Asks for so many seconds, and returns the seconds of each answer."""
    found, lock = [], threading.Lock()
    bodies = [json.dumps(each).encode() for each in work["bodies"]]
    numbers = itertools.count()
    ends = time.perf_counter() + work["seconds"]

    def client() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", work["port"], timeout=600)
        while time.perf_counter() < ends:
            body = bodies[next(numbers) % len(bodies)]
            begun = time.perf_counter()
            connection.request("POST", work["path"], body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{answer.status}: {content[:500]!r}")
            with lock:
                found.append(time.perf_counter() - begun)

    begun = time.perf_counter()
    threads = [threading.Thread(target=client) for _ in range(work["clients"])]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return {"answers": found, "seconds": time.perf_counter() - begun}


if __name__ == "__main__":
    print(json.dumps(ask(json.load(sys.stdin))))
