"""A server's models of one that learned dialogues, which is not exported."""

import contextlib
import functools
from concurrent.futures import Future
from types import SimpleNamespace

from firth.serving.server.slot_queue import SlotQueue
from firth.serving.slots.tokenizer_description import describe_tokenizer
from tests.generation.framing_turns_test import generator as generator_of_dialogues
from tests.serving.slots.models import batcher_op_by_op, served_by

NAME = "talker"


class TalkingModels:
    """Models of one that is not exported, with the functions that would be."""

    names = (NAME,)

    def __init__(self, generator, in_graphs=()):
        served = served_by(generator)
        batcher = batcher_op_by_op(served, in_graphs=in_graphs)
        tokenizer = describe_tokenizer(served.tokenizer, served.recipe)
        described = {"slots": batcher.described, "tokenizer": tokenizer, "signatures": {}}

        def submit(name, inputs):
            future = Future()
            future.set_result(batcher.loaded.run(name, inputs))
            return future

        slots = SlotQueue(batcher, 8)
        self.version = SimpleNamespace(
            name=NAME,
            version=1,
            description=described,
            slots=slots,
            submit=submit,
            has=lambda name: True,
            signature_defs={},
        )

    @contextlib.contextmanager
    def lease(self, name):
        yield self.version


@functools.cache
def talking():
    """Returns the generator of dialogues, and models of it alone."""
    generator = generator_of_dialogues()
    return generator, TalkingModels(generator)
