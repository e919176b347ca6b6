"""A tokenizer inside a SavedModel, read by the loader of TF Serving in a process without firth and Keras."""

import json
import os
import subprocess
import sys

import pytest
import tensorflow as tf

from tests.tokenizers.golden.hard_strings import STRINGS

READER = """
import json, sys
import tensorflow as tf, tensorflow_text
directory, texts = sys.argv[1], json.load(sys.stdin)
with tf.compat.v1.Session(graph=tf.Graph()) as session:
    graph = tf.compat.v1.saved_model.loader.load(session, ["serve"], directory)
    signature = graph.signature_def["encode"]
    fetches = {key: info.name for key, info in signature.outputs.items()}
    def run(batch):
        return session.run(fetches, {signature.inputs["text"].name: batch})
    found = run(texts)
    invalid = run([b"a\\xffb", b"\\xe4\\xb8"])
    empty = run([])
assert not {"firth", "keras_hub"} & set(sys.modules)
print(json.dumps({
    "ids": found["ids"].tolist(), "splits": found["splits"].tolist(),
    "text": [text.decode() for text in found["text"]],
    "invalid": invalid["ids"].tolist(), "empty": empty["ids"].tolist(),
}))
"""


class Server(tf.Module):
    def __init__(self, tokenizer):
        super().__init__()
        self._tokenizer = tokenizer

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
    def encode(self, text):
        ids = self._tokenizer.tokenize(text)
        return {"ids": ids.flat_values, "splits": ids.row_splits, "text": self._tokenizer.detokenize(ids)}


@pytest.mark.parametrize("lowercase", [True])
def test_raw_strings_through_the_v1_loader(both, tmp_path, lowercase):
    tokenizer = both[lowercase][0]
    server = Server(tokenizer)
    tf.saved_model.save(server, str(tmp_path / "build"), signatures={"encode": server.encode})
    assert list((tmp_path / "build" / "assets").iterdir()) == []
    (tmp_path / "build").rename(tmp_path / "elsewhere")
    result = subprocess.run(
        [sys.executable, "-c", READER, str(tmp_path / "elsewhere")],
        input=json.dumps(STRINGS),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert result.returncode == 0, result.stderr[-2000:]
    found = json.loads(result.stdout.splitlines()[-1])
    expected = tokenizer.tokenize(STRINGS)
    assert found["ids"] == expected.flat_values.numpy().tolist()
    assert found["splits"] == expected.row_splits.numpy().tolist()
    assert found["text"] == [text.decode() for text in tokenizer.detokenize(expected).numpy()]
    assert found["invalid"] == tokenizer.tokenize(["ab"]).flat_values.numpy().tolist()
    assert found["empty"] == []
