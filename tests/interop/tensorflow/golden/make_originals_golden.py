"""Writes hidden states and logits of the code of the papers, on random weights of shapes that no preset has.

The code is TensorFlow 1's. It runs here under `tf.compat.v1`, with the one function of `tf.contrib` that it
calls, `layer_norm`, written below by its documentation. Clones of google-research/bert, /albert and /electra,
of zihangdai/xlnet and of openai/gpt-2 are in one folder:

    pip install tensorflow==2.16.2 tf-keras==2.16.0
    TF_USE_LEGACY_KERAS=1 python -m tests.interop.tensorflow.golden.make_originals_golden FOLDER

Each file has the tensors (`weight/NAME`), what is read, the states, the logits or their log softmax, and the
versions (`made_with`). T5's code is Mesh TensorFlow, of which 0.1.21 does not load under TensorFlow 2.16: it
imports `tensorflow.compat.v1.estimator`, which is gone there. `tokenizers.json` has the digests of the ids of
BERT's tokenizer on `lines()`.
"""

import argparse
import hashlib
import json
import pathlib
import random
import sys
import types

import numpy as np
import tensorflow

tf = tensorflow.compat.v1
HERE = pathlib.Path(__file__).parent
FOLDERS = {name: name for name in ("bert", "albert", "electra", "xlnet", "gpt-2")}
LENGTH, PREDICTED = 9, [2, 4]
LINES = 10_000
PIECES = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *"abcdefghijklmnopqrstuvwxyz0123456789.,!?-'\"()中文字的",
    *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz0123456789"),
    *("the", "uber", "cafe", "naive", "##ing", "##ion", "strasse"),
]
CASED = [*PIECES, *"ABCÉÜß", "##é", "##ü", "The", "Über", "café"]


def lines(count: int = LINES) -> list[str]:
    """Returns made-up lines: letters with accents and of other scripts, marks, spaces and controls."""
    made = random.Random(7)
    parts = [
        "the",
        "The",
        "Über",
        "u\u0308ber",
        "café",
        "naïve",
        "Straße",
        "中文",
        "字",
        "的的",
        "ﬁre",
        "İz",
        "a" * 150,
    ]
    parts += [
        *"abcz0189.,!?-'()\"",
        "…",
        "“",
        "\t",
        "\u00a0",
        "\u200b",
        "\ufffd",
        "\x00",
        "한국",
        "ไทย",
        "😀",
        "run-ning",
        "x" * 210,
    ]
    return [
        "".join(made.choice(parts) + made.choice(["", " ", "  "]) for _ in range(made.randrange(1, 14)))
        for _ in range(count)
    ]


def digest(ids: list[list[int]]) -> str:
    """Returns the digest of the ids of some lines."""
    return hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:16]


def _layer_norm(inputs, center=True, scale=True, begin_norm_axis=1, begin_params_axis=-1, scope=None, **_):
    with tf.variable_scope(scope, "LayerNorm", [inputs]):
        shape = inputs.shape[-1:]
        beta = tf.get_variable("beta", shape, initializer=tf.zeros_initializer())
        gamma = tf.get_variable("gamma", shape, initializer=tf.ones_initializer())
        mean, variance = tf.nn.moments(inputs, [-1], keepdims=True)
        return tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, 1e-12)


class _OldTensorFlow(types.ModuleType):
    contrib = types.SimpleNamespace(layers=types.SimpleNamespace(layer_norm=_layer_norm))

    def __getattr__(self, name):
        return getattr(tf, name)


def load(path: pathlib.Path, **modules) -> types.ModuleType:
    """Runs a file of the papers, whose imports of TensorFlow are of its first version."""
    text = path.read_text()
    for old in ("import tensorflow.compat.v1 as tf", "import tensorflow as tf"):
        text = text.replace(old, "from old_tensorflow import tf")
    text = text.replace(
        "from tensorflow.contrib import layers as contrib_layers", "contrib_layers = tf.contrib.layers"
    )
    text = text.replace("from tensorflow.contrib.training import HParams", "HParams = None")
    module = types.ModuleType(path.stem)
    shim = types.ModuleType("old_tensorflow")
    shim.tf = _OldTensorFlow("tf")
    sys.modules.update({"old_tensorflow": shim, **modules})
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def evaluate(build, **inputs) -> dict[str, np.ndarray]:
    """Returns the weights and the outputs of a graph, whose weights are made anew."""
    tf.disable_v2_tensorshape()
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = build(**{name: tf.constant(each) for name, each in inputs.items()})
        made = np.random.default_rng(3)
        for variable in tf.global_variables():
            shape = variable.shape.as_list()
            around = 1.0 if variable.op.name.endswith(("gamma", "/g")) else 0.0
            variable.load(made.normal(around, 0.25, shape).astype("float32"), session)
        found = {f"weight/{each.op.name}": session.run(each) for each in tf.global_variables()}
        found |= {f"output/{name}": session.run(each) for name, each in outputs.items()}
    return found | {f"input/{name}": each for name, each in inputs.items()}


def inputs():
    ids = np.random.default_rng(5).integers(5, 12, (2, LENGTH)).astype("int32")
    mask = np.ones((2, LENGTH), "int32")
    mask[1, 6:] = 0
    segments = np.array([[0] * 5 + [1] * 4, [0] * 3 + [1] * 3 + [0] * 3], "int32")
    return {"ids": ids * mask, "mask": mask, "segments": segments}


BERT = {
    "attention_probs_dropout_prob": 0.0,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0,
    "hidden_size": 12,
    "initializer_range": 0.02,
    "intermediate_size": 20,
    "max_position_embeddings": 16,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "type_vocab_size": 2,
    "vocab_size": 17,
}
ALBERT = {**BERT, "embedding_size": 8, "num_hidden_groups": 1, "inner_group_num": 2}


def _pretraining(modeling, text, config, model_class):
    """Returns a function to the states and the log probabilities of masked tokens and of pairs."""

    def build(ids, mask, segments):
        model = model_class(config, False, ids, mask, segments)
        places = tf.constant([PREDICTED] * 2)
        nothing = tf.zeros([2, len(PREDICTED)], tf.int32)
        first = (config, model.get_sequence_output(), model.get_embedding_table())
        if not hasattr(model, "get_embedding_table"):
            raise ValueError
        masked = text.get_masked_lm_output(*first, places, nothing, tf.cast(nothing, tf.float32))[-1]
        pairs = getattr(text, "get_next_sentence_output", None) or text.get_sentence_order_output
        pair = pairs(config, model.get_pooled_output(), tf.zeros([2, 1], tf.int32))[-1]
        return {"states": model.get_sequence_output(), "masked": masked, "pair": pair}

    return build


def make_bert(folder: pathlib.Path) -> tuple[dict, dict]:
    """Returns the outputs and the configuration of google-research's BERT."""
    modeling = load(folder / "modeling.py")
    optimization = types.ModuleType("optimization")
    text = load(folder / "run_pretraining.py", modeling=modeling, optimization=optimization)
    build = _pretraining(modeling, text, modeling.BertConfig.from_dict(BERT), modeling.BertModel)
    return evaluate(build, **inputs()), BERT


def make_albert(folder: pathlib.Path) -> tuple[dict, dict]:
    """Returns the outputs and the configuration of google-research's ALBERT."""
    modeling = load(folder / "modeling.py")
    config = modeling.AlbertConfig.from_dict(ALBERT)

    def build(ids, mask, segments):
        model = modeling.AlbertModel(config, False, ids, mask, segments)
        return {"states": model.get_sequence_output(), "pooled": model.get_pooled_output()}

    return evaluate(build, **inputs()), ALBERT


def make_electra(folder: pathlib.Path) -> tuple[dict, dict]:
    """Returns the outputs and the configuration of google-research's ELECTRA."""
    modeling = load(folder / "model" / "modeling.py")
    config = modeling.BertConfig.from_dict(BERT)

    def build(ids, mask, segments):
        model = modeling.BertModel(config, False, ids, mask, segments, embedding_size=8, scope="electra")
        return {"states": model.get_sequence_output()}

    return evaluate(build, **inputs()), {**BERT, "embedding_size": 8}


XLNET = {
    "d_head": 4,
    "d_inner": 20,
    "d_model": 12,
    "ff_activation": "gelu",
    "n_head": 3,
    "n_layer": 2,
    "n_token": 17,
    "untie_r": True,
}


def make_xlnet(folder: pathlib.Path) -> tuple[dict, dict]:
    """Returns the states of XLNet."""
    modeling = load(folder / "modeling.py")
    given = inputs()

    def build(ids, mask, segments):
        with tf.variable_scope("model"):
            states, *_ = modeling.transformer_xl(
                inp_k=tf.transpose(ids),
                dropout=0.0,
                dropatt=0.0,
                attn_type="bi",
                bi_data=False,
                initializer=tf.zeros_initializer(),
                is_training=False,
                input_mask=tf.transpose(1.0 - tf.cast(mask, tf.float32)),
                seg_id=tf.transpose(segments),
                use_tpu=False,
                **XLNET,
            )
            # Only pre-training makes it.
            with tf.variable_scope("transformer/mask_emb"):
                tf.get_variable("mask_emb", [1, 1, XLNET["d_model"]])
        return {"states": tf.transpose(states, [1, 0, 2])}

    return evaluate(build, **given), XLNET


GPT2 = {"n_vocab": 273, "n_ctx": 16, "n_embd": 12, "n_head": 3, "n_layer": 2}


def make_gpt2(folder: pathlib.Path) -> tuple[dict, dict]:
    """Returns the logits of GPT-2."""
    text = (folder / "src" / "model.py").read_text()
    module = load(folder / "src" / "model.py") if "HParams" in text else None
    hparams = types.SimpleNamespace(**GPT2)
    ids = np.random.default_rng(5).integers(0, 273, (2, LENGTH)).astype("int32")
    return evaluate(lambda ids: {"logits": module.model(hparams, ids)["logits"]}, ids=ids), GPT2


def make_tokenizers(folder: pathlib.Path) -> dict:
    """Returns the digests of the ids of BERT's tokenizer, a hundred lines each."""
    module = load(folder / "tokenization.py")
    made = {}
    for name, pieces, lowers in (("uncased", PIECES, True), ("cased", CASED, False)):
        vocabulary = {piece: index for index, piece in enumerate(pieces)}
        basic = module.BasicTokenizer(do_lower_case=lowers)
        word = module.WordpieceTokenizer(vocab=vocabulary)
        ids = [
            [vocabulary[piece] for token in basic.tokenize(line) for piece in word.tokenize(token)]
            for line in lines()
        ]
        made[name] = [digest(ids[start : start + 100]) for start in range(0, LINES, 100)]
    return made


def main() -> None:
    """Writes the files of all systems."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    with_versions = {"tensorflow": tensorflow.__version__}
    for name, make in (
        ("bert", make_bert),
        ("albert", make_albert),
        ("electra", make_electra),
        ("xlnet", make_xlnet),
        ("gpt2", make_gpt2),
    ):
        found, config = make(folder / name.replace("gpt2", "gpt-2"))
        made_with = json.dumps({**with_versions, "config": config})
        np.savez_compressed(HERE / f"{name}.npz", made_with=made_with, **found)
    tokenizers = {"made_with": with_versions, **make_tokenizers(folder / "bert")}
    (HERE / "tokenizers.json").write_text(json.dumps(tokenizers) + "\n")


if __name__ == "__main__":
    main()
