"""The encoders as they were published: BERT, ALBERT, ELECTRA and XLNet."""

import dataclasses
from collections.abc import Callable
from typing import Any

from firth.interop.hugging_face import encoder_families as families, encoders
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.rules import Rules, bert_block, blocks, linear
from firth.interop.tensorflow.checkpoint import Checkpoint
from firth.interop.tensorflow.names import Name, Names, dense, norm
from firth.interop.tensorflow.original import Config, Original, fixed
from firth.interop.tensorflow.task_heads import (
    BERT_NAMES,
    ELECTRA_HEADS,
    ELECTRA_NAMES,
    XLNET_HEADS,
    XLNET_NAMES,
    electra_task,
    with_bert_tasks,
    written_name,
    xlnet_name,
    xlnet_task,
)
from firth.interop.tensorflow.tokenizers import ALBERT_MODEL, VOCABULARY, XLNET_MODEL
from firth.recipes.objectives.generator import generator_of
from firth.recipes.objectives.masking import MaskedLM, ReplacedTokenDetection

_BERT_KEYS = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size")
# google-research's `gelu` is the approximate one in BERT and ALBERT, and the exact one in ELECTRA.
_APPROXIMATE = {"gelu": "gelu_new"}


def _embeddings(theirs: str, published: str) -> tuple[Name, ...]:
    return (
        Name(f"{theirs}/embeddings/{{w}}_embeddings", f"{published}.embeddings.{{w}}_embeddings.weight"),
        *norm(f"{theirs}/embeddings/LayerNorm", f"{published}.embeddings.LayerNorm"),
    )


def _bert(theirs: str, published: str) -> tuple[Name, ...]:
    """Returns the names of BERT's encoder and pooler."""
    layer, there = f"{theirs}/encoder/layer_{{n}}", f"{published}.encoder.layer.{{n}}"
    return (
        *_embeddings(theirs, published),
        *dense(f"{layer}/attention/self/{{w}}", f"{there}.attention.self.{{w}}"),
        *dense(f"{layer}/attention/output/dense", f"{there}.attention.output.dense"),
        *norm(f"{layer}/attention/output/LayerNorm", f"{there}.attention.output.LayerNorm"),
        *dense(f"{layer}/intermediate/dense", f"{there}.intermediate.dense"),
        *dense(f"{layer}/output/dense", f"{there}.output.dense"),
        *norm(f"{layer}/output/LayerNorm", f"{there}.output.LayerNorm"),
        *dense(f"{theirs}/pooler/dense", f"{published}.pooler.dense"),
    )


def _cls(transform: str, bias: str, pair: str) -> tuple[Name, ...]:
    """Returns the names of the heads of masked LM and of pairs."""
    return (
        *dense("cls/predictions/transform/dense", f"{transform}dense"),
        *norm("cls/predictions/transform/LayerNorm", f"{transform}LayerNorm"),
        Name("cls/predictions/output_bias", bias),
        # The weights of a decision are [classes, width] on both sides.
        Name("cls/seq_relationship/output_weights", f"{pair}.weight"),
        Name("cls/seq_relationship/output_bias", f"{pair}.bias"),
    )


def _with_tasks(family: Family) -> Family:
    """Returns a family with the heads of tasks, as google-research's BERT has them, next to its own."""
    return with_bert_tasks(family, fixed(family, layer_norm_eps=1e-12))


def _gelu_of_google(config: Config, checkpoint: Checkpoint | None) -> Config:
    act = config.get("hidden_act", "gelu")
    return {**config, "hidden_act": _APPROXIMATE.get(act, act) if isinstance(act, str) else act}


def _written(config: Config) -> Config:
    """Returns the keys that google-research's classes have."""
    dropped = ("model_type", "position_embedding_type", "tie_word_embeddings", "is_decoder")
    return {
        **{key: value for key, value in config.items() if key not in dropped},
        # Both kinds have one name there.
        "hidden_act": str(config["hidden_act"]).replace("gelu_new", "gelu"),
    }


BERT = Original(
    "BERT of google-research",
    _with_tasks(families.BERT),
    "bert/",
    "encoder/layer_0/attention/self/query/kernel",
    Names(
        (
            *_bert("bert", "bert"),
            *_cls("cls.predictions.transform.", "cls.predictions.bias", "cls.seq_relationship"),
            *BERT_NAMES,
        )
    ),
    _BERT_KEYS,
    "bert_model.ckpt",
    (VOCABULARY,),
    read_config=_gelu_of_google,
    write_config=_written,
    needs_base=False,
)

_INNER = "bert/encoder/transformer/group_{n}/inner_group_{n}"
_PUBLISHED_INNER = "albert.encoder.albert_layer_groups.{n}.albert_layers.{n}"
ALBERT = Original(
    "ALBERT of google-research",
    _with_tasks(families.ALBERT),
    "bert/",
    "encoder/transformer/group_0/inner_group_0/attention_1/self/query/kernel",
    Names(
        (
            *_embeddings("bert", "albert"),
            *dense("bert/encoder/embedding_hidden_mapping_in", "albert.encoder.embedding_hidden_mapping_in"),
            *norm(f"{_INNER}/LayerNorm", f"{_PUBLISHED_INNER}.attention.LayerNorm"),
            *dense(f"{_INNER}/attention_1/output/dense", f"{_PUBLISHED_INNER}.attention.dense"),
            *dense(f"{_INNER}/attention_1/self/{{w}}", f"{_PUBLISHED_INNER}.attention.{{w}}"),
            *dense(f"{_INNER}/ffn_1/intermediate/dense", f"{_PUBLISHED_INNER}.ffn"),
            *dense(f"{_INNER}/ffn_1/intermediate/output/dense", f"{_PUBLISHED_INNER}.ffn_output"),
            *norm(f"{_INNER}/LayerNorm_1", f"{_PUBLISHED_INNER}.full_layer_layer_norm"),
            *dense("bert/pooler/dense", "albert.pooler"),
            *_cls("predictions.", "predictions.bias", "sop_classifier.classifier"),
            *BERT_NAMES,
        )
    ),
    (*_BERT_KEYS, "embedding_size", "num_hidden_groups"),
    "model.ckpt-best",
    (ALBERT_MODEL, VOCABULARY),
    read_config=_gelu_of_google,
    write_config=_written,
    written_config="albert_config.json",
    needs_base=False,
)


_DETECTION, *_OF_GENERATORS = (
    # Its heads have the activation of the model, whichever it is.
    dataclasses.replace(each, compute=lambda model: True)
    for each in families.ELECTRA.heads
)
_ELECTRA = dataclasses.replace(fixed(families.ELECTRA, layer_norm_eps=1e-12), heads=[_DETECTION])
_OF_GENERATOR = ("generator/", "generator_predictions/")
# Width of a head of attention in all of its sizes.
_HEAD = 64


def _sizes_of_tensors(base: str) -> Callable[[Config, Checkpoint | None], Config]:
    """Returns the function to a configuration with the sizes that tensors say.

    ELECTRA is published without a configuration, and that of a pre-training run is its discriminator's.
    """

    def read(config: Config, checkpoint: Checkpoint | None) -> Config:
        if checkpoint is None:
            return config
        query = f"{base}/encoder/layer_{{}}/attention/self/query/kernel"
        width = checkpoint.spec(query.format(0)).shape[-1]
        is_own = config.get("hidden_size") == width
        heads = config.get("num_attention_heads") if is_own else None
        (inner,) = checkpoint.spec(f"{base}/encoder/layer_0/intermediate/dense/bias").shape
        rows, embedding = checkpoint.spec(f"{base}/embeddings/word_embeddings").shape
        positions, _ = checkpoint.spec(f"{base}/embeddings/position_embeddings").shape
        segments, _ = checkpoint.spec(f"{base}/embeddings/token_type_embeddings").shape
        numbers = range(len(checkpoint.names))
        of_tensors = {
            "hidden_size": width,
            "intermediate_size": inner,
            "embedding_size": embedding,
            "max_position_embeddings": positions,
            "type_vocab_size": segments,
            "num_hidden_layers": next(each for each in numbers if query.format(each) not in checkpoint),
            "num_attention_heads": heads or max(1, width // _HEAD),
        }
        if is_own:
            of_tensors = {**of_tensors, **{key: config[key] for key in of_tensors if key in config}}
        return {"vocab_size": rows, **config, **of_tensors}

    return read


def _with_generator(checkpoint: Checkpoint, model: Any, objective: Any) -> Any:
    """Returns an objective whose generator is that of the checkpoint, if it has one."""
    query = "generator/encoder/layer_{}/attention/self/query/kernel"
    if query.format(0) not in checkpoint:
        return objective
    if "generator/embeddings/word_embeddings" in checkpoint:
        # A generator has the discriminator's embeddings here.
        checkpoint.put_aside(_OF_GENERATOR)
        return objective
    width = checkpoint.spec(query.format(0)).shape[-1]
    layers = next(each for each in range(len(checkpoint.names)) if query.format(each) not in checkpoint)
    made = objective.model_copy(
        update={
            "generator_width_fraction": width / model.width,
            "generator_layers_fraction": layers / model.layers,
        }
    )
    (inner,) = checkpoint.spec("generator/encoder/layer_0/intermediate/dense/bias").shape
    small = generator_of(model, made)
    if (small.width, small.layers, small.inner_width) == (width, layers, inner):
        return made
    # Its shape is not that of the model, made smaller.
    checkpoint.put_aside(_OF_GENERATOR)
    return objective


def _generator_rules(model: Any, goal: Any) -> Rules:
    """Yields the rules of the generator that a discriminator is trained with."""
    if not _DETECTION.match(goal):
        return
    small, there = generator_of(model, goal), "electra_generator"
    if small.width != model.embedding_width:
        yield from linear(f"{there}.embeddings_project", "heads/generator_projection")
    yield from blocks(f"{there}.encoder.layer", "heads/generator", bert_block, small.stack)
    yield from encoders.electra_masked_lm(small)


def _project(theirs: str, published: str) -> tuple[Name, ...]:
    return dense(f"{theirs}/embeddings_project", f"{published}.embeddings_project")


_PREDICTIONS = (
    *dense("generator_predictions/dense", "generator_predictions.dense"),
    *norm("generator_predictions/LayerNorm", "generator_predictions.LayerNorm"),
    Name("generator_predictions/output_bias", "generator_lm_head.bias"),
)
ELECTRA = Original(
    "ELECTRA of google-research",
    dataclasses.replace(_ELECTRA, task_heads=ELECTRA_HEADS),
    "electra/",
    "encoder/layer_0/attention/self/query/kernel",
    Names(
        (
            *_bert("electra", "electra"),
            *_project("electra", "electra"),
            *dense("discriminator_predictions/dense", "discriminator_predictions.dense"),
            *dense("discriminator_predictions/dense_1", "discriminator_predictions.dense_prediction"),
            *_bert("generator", "electra_generator"),
            *_project("generator", "electra_generator"),
            *_PREDICTIONS,
            *ELECTRA_NAMES,
        )
    ),
    _BERT_KEYS,
    "electra.ckpt",
    (VOCABULARY,),
    read_config=_sizes_of_tensors("electra"),
    write_config=lambda config: {**_written(config), "hidden_act": config["hidden_act"]},
    written_config="electra_config.json",
    needs_config=False,
    part="discriminator",
    objective=lambda checkpoint, model, objective: _with_generator(
        checkpoint, model, ReplacedTokenDetection()
    ),
    more_rules=_generator_rules,
    task_names=electra_task,
    written_name=written_name,
)
GENERATOR = dataclasses.replace(
    ELECTRA,
    title="a generator of google-research's ELECTRA",
    family=dataclasses.replace(_ELECTRA, heads=_OF_GENERATORS),
    base="generator/",
    names=Names((*_bert("generator", "electra"), *_project("generator", "electra"), *_PREDICTIONS)),
    read_config=_sizes_of_tensors("generator"),
    part="generator",
    fallbacks={"generator/embeddings/": "electra/embeddings/"},
    objective=lambda checkpoint, model, objective: MaskedLM(next_sentence=False),
    more_rules=lambda model, goal: (),
)


XLNET = Original(
    "XLNet",
    dataclasses.replace(fixed(families.XLNET, layer_norm_eps=1e-12), task_heads=XLNET_HEADS),
    "transformer/",
    "layer_0/rel_attn/q/kernel",
    Names(
        (
            Name("model/transformer/word_embedding/lookup_table", "transformer.word_embedding.weight"),
            Name("model/transformer/mask_emb/mask_emb", "transformer.mask_emb"),
            *(
                Name(f"model/transformer/{name}[{{n}}]", f"transformer.layer.{{n}}.rel_attn.{name}")
                for name in ("r_w_bias", "r_r_bias", "r_s_bias", "seg_embed")
            ),
            Name("model/transformer/layer_{n}/rel_attn/{w}/kernel", "transformer.layer.{n}.rel_attn.{w}"),
            *norm(
                "model/transformer/layer_{n}/rel_attn/LayerNorm", "transformer.layer.{n}.rel_attn.layer_norm"
            ),
            *norm("model/transformer/layer_{n}/ff/LayerNorm", "transformer.layer.{n}.ff.layer_norm"),
            *dense("model/transformer/layer_{n}/ff/layer_1", "transformer.layer.{n}.ff.layer_1"),
            *dense("model/transformer/layer_{n}/ff/layer_2", "transformer.layer.{n}.ff.layer_2"),
            Name("model/lm_loss/bias", "lm_loss.bias"),
            *XLNET_NAMES,
        )
    ),
    ("n_layer", "d_model", "n_head", "d_head", "d_inner", "ff_activation", "untie_r", "n_token"),
    "xlnet_model.ckpt",
    (XLNET_MODEL,),
    read_config=lambda config, checkpoint: {
        **config,
        "ff_activation": _APPROXIMATE.get(config["ff_activation"], config["ff_activation"]),
    },
    write_config=lambda config: {
        "d_head": config["d_model"] // config["n_head"],
        "d_inner": config["d_inner"],
        "d_model": config["d_model"],
        "ff_activation": config["ff_activation"].replace("gelu_new", "gelu"),
        "n_head": config["n_head"],
        "n_layer": config["n_layer"],
        "n_token": config.get("vocab_size"),
        "untie_r": True,
    },
    written_config="xlnet_config.json",
    optional=("model/transformer/mask_emb/mask_emb",),
    root="model/",
    task_names=xlnet_task,
    written_name=xlnet_name,
)
ENCODERS = (ALBERT, ELECTRA, GENERATOR, BERT, XLNET)
