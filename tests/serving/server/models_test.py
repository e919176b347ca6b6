"""Versions are loaded, asked in batches, leased while they are used, and replaced."""

import shutil
import threading

import numpy as np
import pytest
import tensorflow as tf

from firth.serving.exported_model import NoModelError
from firth.serving.server.batching import DynamicBatcher
from firth.serving.server.errors import RequestError
from firth.serving.server.models import Models
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from firth.serving.slots.batcher import SlotPrompt
from tests.generation.cases import PROMPTS, eagerly
from tests.serving.slots.models import copy_of_exported, generator_of_exported

SETTINGS = ServerSettings()


def save_plain(folder, signature="ask"):
    """Writes a model of one signature: a version with slots takes seconds to be loaded."""
    module = tf.Module()
    text = tf.TensorSpec([None], tf.string, "text")
    module.ask = tf.function(lambda text: {"bytes": tf.strings.length(text)}, input_signature=[text])
    tf.saved_model.save(module, str(folder), signatures={signature: module.ask})


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


def test_slots_write_what_the_generator_writes_and_one_model_holds_up_no_other(made_once, tmp_path):
    path = tmp_path / "model" / "3"
    copy_of_exported(made_once, path)
    models = Models([ModelSource("tiny", str(path.parent))], SETTINGS)
    with models.lease("tiny") as version:
        streams = [version.slots.submit(SlotPrompt(text, {"max_new_tokens": 4})) for text in PROMPTS]
        written = [list(each)[-1] for each in streams]
        with pytest.raises(RequestError, match=r"txt .*text"):
            version.submit("score", {"txt": np.array([b"a"], object)})
    with eagerly():
        expected = generator_of_exported().generate(PROMPTS, max_new_tokens=4)
    assert [each.text for each in written] == [each.text for each in expected]
    with pytest.raises(RequestError, match="did you mean tiny"), models.lease("tiney"):
        pass
    check_that_one_model_holds_up_no_other(models, tmp_path)
    models.close()


def check_that_one_model_holds_up_no_other(models, folder):
    """Neither one whose folder has no version, nor one whose old version is read slowly."""
    save_plain(folder / "second" / "1")
    sources = [ModelSource("tiny", str(folder / "model")), ModelSource("second", str(folder / "second"))]
    models.reload(sources)
    with models.lease("tiny") as leased:
        shutil.rmtree(folder / "model" / "3")
        save_plain(folder / "model" / "4")
        (folder / "second" / "1").rename(folder / "second" / "2")
        (folder / "none").mkdir()
        with pytest.raises(NoModelError, match="none"):
            models.reload([ModelSource("none", str(folder / "none")), *sources])
        found = {
            name: [(each.version, each.state) for each in models.status(name)] for name in ("tiny", "second")
        }
        assert found == {
            "tiny": [(4, "AVAILABLE"), (3, "UNLOADING")],
            "second": [(2, "AVAILABLE"), (1, "END")],
        }
        assert list(leased.slots.submit(SlotPrompt(PROMPTS[0], {"max_new_tokens": 2})))[-1].ended
    for each in models._leaving:
        each.join()
    assert [each.state for each in models.status("tiny")] == ["AVAILABLE", "END"]


def test_a_request_in_several_batches_fails_once_and_an_answer_without_rows_ends_no_thread():
    together = threading.Barrier(2)

    def run(signature, inputs):
        if signature == "scalar":
            return {"length": np.array(1)}
        if signature == "ragged":
            # Rows of which one has no axis cannot be joined.
            ragged = np.empty(len(inputs["text"]), object)
            ragged[:] = [np.zeros([1] * (len(each) > 9)) for each in inputs["text"]]
            return {"length": ragged}
        if signature == "fail":
            together.wait()
            raise ValueError("both")
        return {"length": np.array([len(each) for each in inputs["text"]])}

    batcher = DynamicBatcher(run, 4, 100, 2)

    def submit(signature, *texts):
        return batcher.submit(signature, {"text": np.array(texts, object)})

    for _ in range(20):
        with pytest.raises(ValueError, match="both"):
            submit("fail", b"a", b"b" * 50).result(10)
    for signature in ("scalar", "scalar", "ragged", "ragged"):
        with pytest.raises((IndexError, ValueError)):
            submit(signature, b"a", b"b" * 50).result(10)
    assert submit("length", b"a", b"b" * 50).result(10)["length"].tolist() == [1, 50]
    assert all(each.is_alive() for each in batcher._threads)
    batcher.close()
