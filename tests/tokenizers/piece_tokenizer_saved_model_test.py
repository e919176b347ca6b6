"""A tokenizer inside a SavedModel, read by the loader of TF Serving in a process without firth and Keras."""

import json

import pytest
import tensorflow as tf

from firth.tokenizers import (
    BytePairTokenizer,
    SentencePieceTokenizer,
    count_byte_words,
    count_spaced_words,
    train_byte_pairs,
    train_sentencepiece,
)
from firth.tokenizers.graph.byte_pieces import byte_pieces
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES
from tests.fresh_process import run_python
from tests.tokenizers.golden.hard_strings import STRINGS

READER = """
import json, sys
import tensorflow as tf, tensorflow_text
directory, texts = sys.argv[1], json.load(open(sys.argv[2]))
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

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")], autograph=False)
    def encode(self, text):
        ids = self._tokenizer.tokenize(text)
        return {"ids": ids.flat_values, "splits": ids.row_splits, "text": self._tokenizer.detokenize(ids)}


def read_in_a_fresh_process(reader, model):
    """Returns a model's answers to `STRINGS`, printed by a script without firth."""
    texts = model.parent / "texts.json"
    texts.write_text(json.dumps(STRINGS))
    result = run_python(["-c", reader, str(model), str(texts)], cwd=model.parent)
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.parametrize("lowercase", [True])
def test_raw_strings_through_the_v1_loader(both, tmp_path, lowercase):
    tokenizer = both[lowercase][0]
    server = Server(tokenizer)
    tf.saved_model.save(server, str(tmp_path / "build"), signatures={"encode": server.encode})
    assert list((tmp_path / "build" / "assets").iterdir()) == []
    (tmp_path / "build").rename(tmp_path / "elsewhere")
    found = read_in_a_fresh_process(READER, tmp_path / "elsewhere")
    expected = tokenizer.tokenize(STRINGS)
    assert found["ids"] == expected.flat_values.numpy().tolist()
    assert found["splits"] == expected.row_splits.numpy().tolist()
    assert found["text"] == [text.decode() for text in tokenizer.detokenize(expected).numpy()]
    assert found["invalid"] == tokenizer.tokenize(["ab"]).flat_values.numpy().tolist()
    assert found["empty"] == []


ALL_READER = """
import json, sys
import tensorflow as tf, tensorflow_text
directory, texts = sys.argv[1], json.load(open(sys.argv[2]))
with tf.compat.v1.Session(graph=tf.Graph()) as session:
    graph = tf.compat.v1.saved_model.loader.load(session, ["serve"], directory)
    found = {}
    for name, signature in graph.signature_def.items():
        if name in ("bpe", "bpe_llama3", "unigram", "sentencepiece_bpe"):
            fetches = {key: info.name for key, info in signature.outputs.items()}
            read = session.run(fetches, {signature.inputs["text"].name: texts})
            found[name] = {"ids": read["ids"].tolist(), "splits": read["splits"].tolist()}
            found[name]["text"] = [text.hex() for text in read["text"]]
            found[name]["empty"] = session.run(fetches, {signature.inputs["text"].name: []})["ids"].tolist()
assert not {"firth", "keras_hub", "sentencepiece"} & set(sys.modules)
print(json.dumps(found))
"""


@pytest.mark.repeated
def test_other_kinds_through_the_v1_loader(tmp_path):
    counts = count_spaced_words(STRINGS)
    tokenizers = {
        "bpe": BytePairTokenizer(train_byte_pairs(count_byte_words(STRINGS), 600, 1, 2)),
        "bpe_llama3": BytePairTokenizer(
            [*SPECIAL_PIECES, *byte_pieces(), "the"], pattern="llama3", whole_words=True
        ),
        "unigram": SentencePieceTokenizer(train_sentencepiece(counts, 1200, "unigram", 2)),
        "sentencepiece_bpe": SentencePieceTokenizer(
            train_sentencepiece(counts, 1500, "bpe", 2, byte_fallback=True)
        ),
    }
    module = tf.Module()
    module.servers = {name: Server(tokenizer) for name, tokenizer in tokenizers.items()}
    signatures = {name: server.encode for name, server in module.servers.items()}
    tf.saved_model.save(module, str(tmp_path / "model"), signatures=signatures)
    found = read_in_a_fresh_process(ALL_READER, tmp_path / "model")
    for name, tokenizer in tokenizers.items():
        expected = tokenizer.tokenize(STRINGS)
        assert found[name] == {
            "ids": expected.flat_values.numpy().tolist(),
            "splits": expected.row_splits.numpy().tolist(),
            "text": [text.hex() for text in tokenizer.detokenize(expected).numpy()],
            "empty": [],
        }
