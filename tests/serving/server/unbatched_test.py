"""Requests that are computed alone wait in a bounded queue."""

import threading

import pytest

from firth.serving.server.errors import RequestError
from firth.serving.server.unbatched import UnbatchedRequests


def test_a_full_queue_refuses_and_a_closed_one_finishes():
    held, requests = threading.Event(), UnbatchedRequests(max_queued=2, threads=1)

    def failing():
        raise ValueError("wrong")

    taken = [requests.submit(held.wait), requests.submit(lambda: 7), requests.submit(failing)]
    assert requests.queued == 2
    with pytest.raises(RequestError) as full:
        requests.submit(lambda: 8)
    assert full.value.status == 429
    held.set()
    assert taken[1].result() == 7
    with pytest.raises(ValueError, match="wrong"):
        taken[2].result()
    assert requests.submit(lambda: 9).result() == 9
    requests.close()
    with pytest.raises(RequestError) as closed:
        requests.submit(lambda: 8)
    assert closed.value.status == 503


def test_a_request_that_was_given_up_is_not_computed():
    """It keeps its place until its turn, since it is in the queue."""
    held, computed = threading.Event(), []
    requests = UnbatchedRequests(max_queued=1, threads=1)
    first = requests.submit(held.wait)
    given_up = requests.submit(lambda: computed.append(7))
    assert given_up.cancel()
    with pytest.raises(RequestError) as full:
        requests.submit(lambda: 8)
    assert full.value.status == 429 and requests.queued == 1
    held.set()
    assert first.result()
    requests.close()
    assert not computed and requests.queued == 0
