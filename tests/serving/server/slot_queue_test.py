"""Texts wait for slots, share steps, and leave them: by their end, their client or their time."""

import asyncio
import random
import threading

import pytest

from firth.recipes.generation.constraints import TextChoices
from firth.serving.server.errors import RequestError
from firth.serving.server.slot_queue import SlotQueue
from firth.serving.slots.batcher import SlotPrompt
from tests.generation.cases import PROMPTS
from tests.serving.slots.models import batcher_of

SEEDED = {"max_new_tokens": 6, "temperature": 1.0, "seed": 7}


@pytest.fixture
def queue(made_once):
    tokens = []
    made = SlotQueue(batcher_of(made_once), 40, lambda seconds, is_first: tokens.append(is_first))
    made.tokens = tokens
    yield made
    made.close()


def _text(stream):
    return list(stream)[-1].text


def test_a_seeded_text_does_not_depend_on_the_load(queue):
    alone = {prompt: _text(queue.submit(SlotPrompt(prompt, SEEDED))) for prompt in PROMPTS}
    assert queue.tokens.count(True) == len(alone)
    drawn, streams = random.Random(3), []
    for _ in range(3):
        for prompt in drawn.sample(list(alone), len(alone)):
            other = queue.submit(SlotPrompt(prompt, {**SEEDED, "seed": drawn.randrange(99)}))
            streams.append((prompt, queue.submit(SlotPrompt(prompt, SEEDED))))
            if drawn.random() < 0.5:
                other.cancel()
    assert [_text(stream) for _, stream in streams] == [alone[prompt] for prompt, _ in streams]


def test_cancelled_late_and_refused_texts(queue):
    long = SlotPrompt(PROMPTS[0], {"max_new_tokens": 8})
    for _ in range(queue.described["count"]):
        iterator = iter(queue.submit(long))
        next(iterator)
        # Its reader goes away.
        iterator.close()
    assert _text(queue.submit(long)) is not None
    with pytest.raises(RequestError) as late:
        _text(queue.submit(long, timeout=0.0))
    assert late.value.status == 504
    with pytest.raises(RequestError) as wrong:
        _text(queue.submit(SlotPrompt(PROMPTS[0], {"temperature": -1.0})))
    assert wrong.value.status == 400 and "temperature" in wrong.value.message


def test_a_full_queue_refuses_and_a_closed_one_finishes(made_once):
    held = threading.Event()
    queue = SlotQueue(batcher_of(made_once), 2, lambda seconds, is_first: held.wait())
    prompt = SlotPrompt(PROMPTS[0], {"max_new_tokens": 2})
    streams = []
    with pytest.raises(RequestError) as full:
        for _ in range(queue.described["count"] + 4):
            streams.append(queue.submit(prompt))
    assert full.value.status == 429
    closing = threading.Thread(target=queue.close)
    closing.start()
    held.set()
    assert len({_text(each) for each in streams}) == 1
    closing.join()
    with pytest.raises(RequestError) as closed:
        queue.submit(prompt)
    assert closed.value.status == 503


def test_a_stream_in_an_event_loop(queue):
    async def read():
        return [each async for each in queue.submit(SlotPrompt(PROMPTS[0], {"max_new_tokens": 3}))]

    texts = asyncio.run(read())
    assert [bool(each.ended) for each in texts] == [False] * (len(texts) - 1) + [True]


def test_a_constraint_that_was_compiled_does_not_wait_for_others(queue):
    known, new = TextChoices(choices=("the fox",)), TextChoices(choices=("a cat",))
    made, held = queue.compile(known).result(), threading.Event()
    # Threads that compile something for long.
    for _ in range(2):
        queue._compile(held.wait)
    try:
        later = queue.compile(new)
        assert queue.compile(known).result(timeout=60) is made and queue.compile(new) is later
        assert not later.done()
        with pytest.raises(RequestError) as full:
            for number in range(99):
                queue.compile(TextChoices(choices=(f"the fox {number}",)))
        assert full.value.status == 429
    finally:
        held.set()
    assert later.result() is queue.compile(new).result()
