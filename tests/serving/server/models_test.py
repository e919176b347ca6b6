"""Versions are loaded, asked in batches, leased while they are used, and replaced."""

import shutil
import threading

import numpy as np
import pytest

from firth.serving.server.batching import DynamicBatcher
from firth.serving.server.errors import RequestError
from firth.serving.server.models import Models, ModelSource
from firth.serving.server.settings import ServerSettings
from firth.serving.slots.batcher import SlotPrompt
from tests.generation.cases import PROMPTS
from tests.serving.slots.models import exported, generator_of_exported

SETTINGS = ServerSettings()


def test_batches_are_of_near_length_and_a_wrong_request_fails_alone():
    batches, held = [], threading.Event()

    def run(signature, inputs):
        held.wait()
        texts = inputs["text"]
        batches.append(sorted(texts.tolist()))
        if b"bad" in texts:
            raise ValueError("bad")
        return {"twice": np.array([[each, each] for each in texts], object)}

    batcher = DynamicBatcher(run, 4, 100, 1)
    first = batcher.submit("echo", {"text": np.array([b"first"], object)})
    futures = [
        batcher.submit("echo", {"text": np.array(each, object)})
        for each in ([b"a", b"b" * 50], [b"bad"], [b"c" * 60, b"dd"])
    ]
    held.set()
    assert first.result()["twice"].tolist() == [[b"first"] * 2]
    assert futures[0].result()["twice"].tolist() == [[b"a"] * 2, [b"b" * 50] * 2]
    assert futures[2].result()["twice"].tolist() == [[b"c" * 60] * 2, [b"dd"] * 2]
    with pytest.raises(ValueError, match="bad"):
        futures[1].result()
    assert [b"b" * 50, b"c" * 60] in batches
    batcher.close()


def test_slots_of_a_server_write_what_the_generator_writes(made_once, tmp_path):
    path = tmp_path / "model" / "3"
    shutil.copytree(exported(made_once), path)
    models = Models([ModelSource("tiny", str(path.parent))], SETTINGS)
    with models.lease("tiny") as version:
        streams = [version.slots.submit(SlotPrompt(text, {"max_new_tokens": 4})) for text in PROMPTS]
        written = [list(each)[-1] for each in streams]
    expected = generator_of_exported().generate(PROMPTS, max_new_tokens=4)
    assert [each.text for each in written] == [each.text for each in expected]
    with pytest.raises(RequestError, match="did you mean tiny"), models.lease("tiney"):
        pass
    shutil.copytree(path, tmp_path / "model" / "4")
    models.reload()
    assert [(each.version, each.state) for each in models.status("tiny")] == [(4, "AVAILABLE"), (3, "END")]
    models.close()
