"""Folders of original checkpoints with random weights, of shapes that no preset has."""

import json
import pathlib

import numpy as np
import tensorflow as tf

from firth.interop.hugging_face.tokenizers.sentence_piece_models import UNIGRAM
from firth.tokenizers.graph.byte_pieces import byte_pieces
from firth.tokenizers.graph.sentencepiece_model import ModelProto, PieceType

PIECES = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "river", "##s", "run", "##ning", "中", ".", ","),
    *("a", "b", "##ing", "!"),
]
WIDTH, INNER, POSITIONS = 12, 20, 16
BERT = {
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": WIDTH,
    "initializer_range": 0.02,
    "intermediate_size": INNER,
    "max_position_embeddings": POSITIONS,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "type_vocab_size": 2,
    "vocab_size": len(PIECES),
}
ALBERT = {**BERT, "embedding_size": 8, "num_hidden_groups": 1, "inner_group_num": 2, "net_structure_type": 0}


def dense(name, inputs, outputs):
    """Shapes of a dense layer."""
    return {f"{name}/kernel": (inputs, outputs), f"{name}/bias": (outputs,)}


def norm(name, width):
    """Shapes of a layer norm."""
    return {f"{name}/gamma": (width,), f"{name}/beta": (width,)}


def embeddings(scope, width):
    """Shapes of BERT's embeddings."""
    return {
        f"{scope}/embeddings/word_embeddings": (len(PIECES), width),
        f"{scope}/embeddings/position_embeddings": (POSITIONS, width),
        f"{scope}/embeddings/token_type_embeddings": (2, width),
        **norm(f"{scope}/embeddings/LayerNorm", width),
    }


def cls(width):
    """Shapes of the heads of masked LM and of pairs."""
    return {
        **dense("cls/predictions/transform/dense", WIDTH, width),
        **norm("cls/predictions/transform/LayerNorm", width),
        "cls/predictions/output_bias": (len(PIECES),),
        "cls/seq_relationship/output_weights": (2, WIDTH),
        "cls/seq_relationship/output_bias": (2,),
    }


def bert_encoder(scope, width=WIDTH, inner=INNER, layers=2, embedding=None):
    """Shapes of BERT's encoder and embeddings."""
    found = embeddings(scope, embedding or width)
    for layer in (f"{scope}/encoder/layer_{index}" for index in range(layers)):
        for part in ("query", "key", "value"):
            found |= dense(f"{layer}/attention/self/{part}", width, width)
        found |= dense(f"{layer}/attention/output/dense", width, width)
        found |= norm(f"{layer}/attention/output/LayerNorm", width)
        found |= dense(f"{layer}/intermediate/dense", width, inner)
        found |= dense(f"{layer}/output/dense", inner, width) | norm(f"{layer}/output/LayerNorm", width)
    return found


def bert():
    """Shapes of google-research's BERT."""
    return bert_encoder("bert") | dense("bert/pooler/dense", WIDTH, WIDTH) | cls(WIDTH)


def albert():
    """Shapes of google-research's ALBERT: one group of two blocks, embeddings of their own width."""
    found = embeddings("bert", 8) | dense("bert/encoder/embedding_hidden_mapping_in", 8, WIDTH)
    for index in range(2):
        inner = f"bert/encoder/transformer/group_0/inner_group_{index}"
        for part in ("self/query", "self/key", "self/value", "output/dense"):
            found |= dense(f"{inner}/attention_1/{part}", WIDTH, WIDTH)
        found |= norm(f"{inner}/LayerNorm", WIDTH) | norm(f"{inner}/LayerNorm_1", WIDTH)
        found |= dense(f"{inner}/ffn_1/intermediate/dense", WIDTH, INNER)
        found |= dense(f"{inner}/ffn_1/intermediate/output/dense", INNER, WIDTH)
    return found | dense("bert/pooler/dense", WIDTH, WIDTH) | cls(8)


def electra(embedding=8, generator=4, inner=7):
    """Shapes of an ELECTRA before and after: a discriminator and its generator, which share embeddings."""
    found = bert_encoder("electra", embedding=embedding) | dense(
        "electra/embeddings_project", embedding, WIDTH
    )
    found |= dense("discriminator_predictions/dense", WIDTH, WIDTH)
    found |= dense("discriminator_predictions/dense_1", WIDTH, 1)
    small = bert_encoder("generator", generator, inner, embedding=embedding)
    found |= {name: shape for name, shape in small.items() if "/embeddings/" not in name}
    found |= dense("generator/embeddings_project", embedding, generator)
    found |= dense("generator_predictions/dense", generator, embedding)
    found |= norm("generator_predictions/LayerNorm", embedding)
    return found | {"generator_predictions/output_bias": (len(PIECES),)}


ROWS = 17
XLNET = {
    "d_head": 4, "d_inner": INNER, "d_model": WIDTH, "ff_activation": "gelu", "n_head": 3, "n_layer": 2,
    "n_token": ROWS, "untie_r": True,
}  # fmt: skip


def xlnet():
    """Shapes of XLNet, whose biases are of all layers at once."""
    heads = (3, 4)
    found = {
        "model/transformer/word_embedding/lookup_table": (ROWS, WIDTH),
        "model/transformer/mask_emb/mask_emb": (1, 1, WIDTH),
        **{f"model/transformer/r_{kind}_bias": (2, *heads) for kind in "wrs"},
        "model/transformer/seg_embed": (2, 2, *heads),
        "model/lm_loss/bias": (ROWS,),
    }
    for layer in (f"model/transformer/layer_{index}" for index in range(2)):
        found |= {f"{layer}/rel_attn/{part}/kernel": (WIDTH, *heads) for part in "qkvro"}
        found |= norm(f"{layer}/rel_attn/LayerNorm", WIDTH) | norm(f"{layer}/ff/LayerNorm", WIDTH)
        found |= dense(f"{layer}/ff/layer_1", WIDTH, INNER) | dense(f"{layer}/ff/layer_2", INNER, WIDTH)
    return found


GPT2_BYTES = 280
GPT2 = {"n_vocab": GPT2_BYTES, "n_ctx": POSITIONS, "n_embd": WIDTH, "n_head": 3, "n_layer": 2}


def gpt2():
    """Shapes of GPT-2, whose dense layers are convolutions."""
    found = {"model/wte": (GPT2_BYTES, WIDTH), "model/wpe": (POSITIONS, WIDTH)}
    for layer in (f"model/h{index}" for index in range(2)):
        for name in ("ln_1", "ln_2"):
            found |= {f"{layer}/{name}/g": (WIDTH,), f"{layer}/{name}/b": (WIDTH,)}
        for name, inputs, outputs in (
            ("attn/c_attn", WIDTH, 3 * WIDTH),
            ("attn/c_proj", WIDTH, WIDTH),
            ("mlp/c_fc", WIDTH, 4 * WIDTH),
            ("mlp/c_proj", 4 * WIDTH, WIDTH),
        ):
            found |= {f"{layer}/{name}/w": (1, inputs, outputs), f"{layer}/{name}/b": (outputs,)}
    return found | {"model/ln_f/g": (WIDTH,), "model/ln_f/b": (WIDTH,)}


T5_ROWS = 128
T5 = """# Macros:
d_ff = 20
d_kv = 4
d_model = 12
dropout_rate = 0.1
num_heads = 3
num_layers = 2

encoder/DenseReluDense.activation = {activation}
encoder/DenseReluDense.hidden_size = %d_ff
decoder/make_layer_stack.layers = \\
[@mesh_tensorflow.transformer.transformer_layers.SelfAttention,
@mesh_tensorflow.transformer.transformer_layers.EncDecAttention,
@mesh_tensorflow.transformer.transformer_layers.DenseReluDense]
run.model_type = 'bitransformer'
encoder/SelfAttention.relative_attention_type = 'bias_shared'
decoder/Unitransformer.shared_embedding_and_softmax_weights = {tied}
"""


def t5(tied=True):
    """Shapes of T5, or of T5 1.1, whose output is a table of its own."""
    found = {"shared/embedding": (T5_ROWS, WIDTH)}
    for stack in ("encoder", "decoder"):
        for index in range(2):
            layer = f"{stack}/block_{index:03}/layer_{{:03}}"
            attentions = ["SelfAttention", "EncDecAttention"][: 2 if stack == "decoder" else 1]
            for place, kind in enumerate(attentions):
                there = layer.format(place)
                found |= {f"{there}/{kind}/{part}": (WIDTH, 12) for part in "qkv"}
                found |= {f"{there}/{kind}/o": (12, WIDTH), f"{there}/layer_norm/scale": (WIDTH,)}
            there = layer.format(len(attentions))
            inner = ("wi",) if tied else ("wi_0", "wi_1")
            found |= {f"{there}/DenseReluDense/{part}/kernel": (WIDTH, INNER) for part in inner}
            found |= {
                f"{there}/DenseReluDense/wo/kernel": (INNER, WIDTH),
                f"{there}/layer_norm/scale": (WIDTH,),
            }
        found |= {f"{stack}/block_000/layer_000/SelfAttention/relative_attention_bias": (3, 8)}
        found |= {f"{stack}/final_layer_norm/scale": (WIDTH,)}
    return found if tied else found | {"decoder/logits/kernel": (WIDTH, T5_ROWS)}


def sentence_piece(pieces):
    """Returns the bytes of a unigram model; pieces in brackets are control pieces."""
    model = ModelProto()
    model.trainer_spec.model_type = UNIGRAM
    for index, piece in enumerate(pieces):
        kind = PieceType.UNKNOWN if piece == "<unk>" else PieceType.NORMAL
        is_control = piece[0] in "<[" and piece != "<unk>"
        model.pieces.add(piece=piece, score=-float(index), type=PieceType.CONTROL if is_control else kind)
    return model.SerializeToString()


def random(shapes, seed=0):
    """Returns random weights, float32."""
    made = np.random.default_rng(seed)
    return {name: made.normal(scale=0.3, size=shape).astype("float32") for name, shape in shapes.items()}


def save(prefix, tensors):
    """Writes tensors by name as TensorFlow 1's saver does."""
    names = [name for name, tensor in tensors.items() if tensor is not None]
    values = [tf.constant(tensors[name]) for name in names]
    tf.raw_ops.SaveV2(
        prefix=str(prefix), tensor_names=names, shape_and_slices=[""] * len(names), tensors=values
    )


def write(
    folder, tensors, config=None, name="bert_model.ckpt", config_name="bert_config.json", pieces=PIECES
):
    """Writes a folder as google-research publishes it."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    save(folder / name, tensors)
    (folder / config_name).write_text(json.dumps(BERT if config is None else config))
    if pieces:
        (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    return folder


_TEXT = ["\u2581the", "\u2581river", "s", "\u2581run", "\u2581", "n", "g"]
XLNET_PIECES = ["<unk>", "<cls>", "<sep>", "<pad>", "<mask>", *_TEXT]
_ALBERT_PIECES = [
    "<pad>",
    "<unk>",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "\u2581the",
    "s",
    "\u2581river",
    "\u2581",
    "n",
    "g",
    "i",
    "r",
]
T5_PIECES = ["<pad>", "</s>", "<unk>", *_TEXT]


def write_family(folder, family, tensors=None):
    """Writes a folder of a family with its tokenizer, and returns the folder and its tensors."""
    if tensors is None:
        tensors = random(t5(tied=False) if family == "t5_1_1" else globals()[family]())
    folder = pathlib.Path(folder)
    if family in ("bert", "albert"):
        write(folder, tensors, globals()[family.upper()], config_name=f"{family}_config.json")
    elif family == "electra":
        write(folder, tensors, {**BERT, "embedding_size": 8}, "electra.ckpt", "electra_config.json")
    elif family == "xlnet":
        write(folder, tensors, XLNET, "xlnet_model.ckpt", "xlnet_config.json", pieces=None)
        (folder / "spiece.model").write_bytes(sentence_piece(XLNET_PIECES))
    elif family == "gpt2":
        write(folder, tensors, GPT2, "model.ckpt", "hparams.json", pieces=None)
        pieces = [*byte_pieces(), "an", "<|endoftext|>"]
        (folder / "encoder.json").write_text(json.dumps({piece: index for index, piece in enumerate(pieces)}))
        (folder / "vocab.bpe").write_text("#version: 0.2\na n\n")
    else:
        folder.mkdir(parents=True, exist_ok=True)
        save(folder / "model.ckpt-1000", tensors)
        tied = family == "t5"
        text = T5.format(activation="'relu'" if tied else "['gelu', 'linear']", tied=tied)
        (folder / "operative_config.gin").write_text(text)
        (folder / "sentencepiece.model").write_bytes(sentence_piece(T5_PIECES))
    if family == "albert":
        (folder / "vocab.txt").unlink()
        (folder / "30k-clean.model").write_bytes(sentence_piece(_ALBERT_PIECES))
    return folder, tensors


def read(folder):
    """Returns the tensors of a folder's only checkpoint, by name."""
    (index,) = pathlib.Path(folder).glob("*.index")
    reader = tf.train.load_checkpoint(str(index).removesuffix(".index"))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
