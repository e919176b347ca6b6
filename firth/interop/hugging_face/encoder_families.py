"""The families of encoders: BERT and its like, and XLNet."""

import dataclasses
from collections.abc import Callable, Collection, Mapping
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face import encoders, encoders as two_streams
from firth.interop.hugging_face.config import Field, activation, whole_number
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.heads import (
    FamilyHeads,
    answerer,
    chooser,
    not_ours,
    pooled_classifier,
    tagger,
)
from firth.recipes.objectives.language_models import PermutationLM
from firth.recipes.objectives.masking import MaskedLM, ReplacedTokenDetection


def _some_segments(number: int) -> int:
    if number < 1:
        raise InteropError(f"{number}: transformers adds the embedding of a segment to every token")
    return number


_BERT_FIELDS = (
    Field("num_hidden_layers", "layers", 12),
    Field("hidden_size", "width", 768),
    Field("num_attention_heads", "attention.heads", 12),
    Field("attention_probs_dropout_prob", "attention.dropout", 0.1),
    Field("intermediate_size", "feed_forward.width", 3072),
    activation("hidden_act"),
    Field("hidden_dropout_prob", "dropout", 0.1),
    Field("initializer_range", "initializer_stddev", 0.02),
    Field("layer_norm_eps", "norm.epsilon", 1e-12),
    Field("type_vocab_size", "embeddings.segments", 2, _some_segments),
)


def _bert_fields(**defaults: Any) -> tuple[Field, ...]:
    """Returns BERT's fields with other values where a configuration has none."""
    return tuple(
        dataclasses.replace(each, default=defaults.get(each.theirs, each.default)) for each in _BERT_FIELDS
    )


_LENGTH = Field("max_position_embeddings", "positions.length", 512)
_ENCODER: dict[str, Any] = {"kind": "masked_transformer", "embeddings.norm": True}
_LEARNED = {**_ENCODER, "positions.kind": "learned"}
_TIED = {"tie_word_embeddings": True, "is_decoder": False}
_ABSOLUTE = {"position_embedding_type": "absolute", **_TIED}
_EMBEDDING_WIDTH = Field("embedding_size", "embeddings.width", 128)
_TOKENS = "embeddings.word_embeddings.weight"


def _pairs(name: str, with_pairs: MaskedLM) -> Callable[[Collection[str]], MaskedLM]:
    """Returns the function that picks the objective of a checkpoint: with pairs if it has that tensor."""
    return lambda names: with_pairs if name in names else _masked_lm(names)


def _masked_lm(names: Collection[str]) -> MaskedLM:
    return MaskedLM(next_sentence=False)


_EXACT = "has exact gelu in its head, whatever the activation of the backbone is"


_OTHER_POOLER = "has {} between the two layers of its head, where heads here have tanh"


def _masked_heads(
    architecture: str, rules: Any, compute: Callable[[Any], bool] = lambda model: True
) -> tuple[FamilyHeads, ...]:
    """Returns masked LM's heads; the span boundary objective's stand next to the same."""
    return (
        FamilyHeads(architecture, "masked_lm", ("mlm",), rules, compute, _EXACT),
        FamilyHeads(architecture, "span_masking", ("mlm",), rules, compute, _EXACT),
    )


def _has_gelu(model: Any) -> bool:
    """Returns true if the activation is exact gelu, which some of their heads use in every model."""
    return bool(model.feed_forward.activation == "gelu")


def _tied(decoder: str, table: str, bias: str) -> dict[str, str]:
    """Returns the output that repeats the token table and a bias."""
    return {f"{decoder}.weight": table, f"{decoder}.bias": bias}


BERT = Family(
    "bert",
    "BertModel",
    "bert",
    (*_BERT_FIELDS, _LENGTH),
    _LEARNED,
    _pairs("cls.seq_relationship.weight", MaskedLM(next_sentence=True)),
    encoders.bert_backbone,
    (
        FamilyHeads("BertForPreTraining", "masked_lm", ("mlm", "nsp"), encoders.bert_pretraining),
        *_masked_heads("BertForMaskedLM", encoders.bert_masked_lm),
    ),
    _ABSOLUTE,
    copies=_tied("cls.predictions.decoder", f"bert.{_TOKENS}", "cls.predictions.bias"),
    task_heads=(
        pooled_classifier("BertForSequenceClassification", "bert.pooler.dense", "classifier"),
        tagger("BertForTokenClassification"),
        answerer("BertForQuestionAnswering"),
        chooser("BertForMultipleChoice", "bert.pooler.dense"),
    ),
)
DISTILBERT = Family(
    "distilbert",
    "DistilBertModel",
    "distilbert",
    (
        Field("n_layers", "layers", 6),
        Field("dim", "width", 768),
        Field("n_heads", "attention.heads", 12),
        Field("attention_dropout", "attention.dropout", 0.1),
        Field("hidden_dim", "feed_forward.width", 3072),
        activation("activation"),
        Field("dropout", "dropout", 0.1),
        Field("initializer_range", "initializer_stddev", 0.02),
        _LENGTH,
    ),
    {**_LEARNED, "embeddings.segments": 0, "norm.epsilon": 1e-12},
    _masked_lm,
    encoders.distilbert_backbone,
    _masked_heads("DistilBertForMaskedLM", encoders.distilbert_masked_lm),
    {"sinusoidal_pos_embds": False, "tie_word_embeddings": True},
    copies={"vocab_projector.weight": f"distilbert.{_TOKENS}"},
    task_heads=(
        not_ours("DistilBertForSequenceClassification", _OTHER_POOLER.format("relu")),
        tagger("DistilBertForTokenClassification"),
        answerer("DistilBertForQuestionAnswering"),
    ),
)


def _spread_roberta(config: dict[str, Any]) -> dict[str, Any]:
    """Positions begin one after the id of padding."""
    unused = whole_number(config, "pad_token_id", 1) + 1
    length = whole_number(config, "max_position_embeddings", 512) - unused
    return {**config, "pad_token_id": unused, "max_position_embeddings": length}


def _gathered_roberta(config: dict[str, Any]) -> dict[str, Any]:
    unused, length = config["pad_token_id"], config["max_position_embeddings"]
    return {**config, "pad_token_id": unused - 1, "max_position_embeddings": length + unused}


def _fitted_roberta(model: Any, ids: Mapping[str, int]) -> Any:
    """Returns a model with as many unused positions as the id of padding asks for."""
    positions = model.positions.model_copy(update={"unused": ids["pad"] + 1})
    return model.model_copy(update={"positions": positions})


ROBERTA = Family(
    "roberta",
    "RobertaModel",
    "roberta",
    (
        *_BERT_FIELDS,
        Field("max_position_embeddings", "positions.length"),
        Field("pad_token_id", "positions.unused"),
    ),
    _LEARNED,
    _masked_lm,
    encoders.roberta_backbone,
    _masked_heads("RobertaForMaskedLM", encoders.roberta_masked_lm, _has_gelu),
    _ABSOLUTE,
    copies=_tied("lm_head.decoder", f"roberta.{_TOKENS}", "lm_head.bias"),
    spread=_spread_roberta,
    gathered=_gathered_roberta,
    task_heads=(
        pooled_classifier("RobertaForSequenceClassification", "classifier.dense", "classifier.out_proj"),
        tagger("RobertaForTokenClassification"),
        answerer("RobertaForQuestionAnswering"),
        chooser("RobertaForMultipleChoice", "roberta.pooler.dense"),
    ),
    fitted=_fitted_roberta,
)


def _spread_albert(config: dict[str, Any]) -> dict[str, Any]:
    inner = whole_number(config, "inner_group_num", 1)
    return {**config, "num_hidden_layers": whole_number(config, "num_hidden_layers", 12) * inner}


def _gathered_albert(config: dict[str, Any]) -> dict[str, Any]:
    return {**config, "num_hidden_layers": config["num_hidden_layers"] // config["inner_group_num"]}


ALBERT = Family(
    "albert",
    "AlbertModel",
    "albert",
    (
        *_bert_fields(
            hidden_size=4096,
            num_attention_heads=64,
            intermediate_size=16384,
            hidden_act="gelu_new",
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        ),
        _LENGTH,
        _EMBEDDING_WIDTH,
        Field("num_hidden_groups", "share_layers.groups", 1),
        Field("inner_group_num", "share_layers.blocks", 1),
    ),
    {**_LEARNED, "embeddings.projected": True},
    _pairs("sop_classifier.classifier.weight", MaskedLM(next_sentence=False, sentence_order=True)),
    encoders.albert_backbone,
    (
        FamilyHeads("AlbertForPreTraining", "masked_lm", ("mlm", "sop"), encoders.albert_pretraining),
        *_masked_heads("AlbertForMaskedLM", encoders.albert_masked_lm),
    ),
    _ABSOLUTE,
    copies=_tied("predictions.decoder", f"albert.{_TOKENS}", "predictions.bias"),
    spread=_spread_albert,
    gathered=_gathered_albert,
    task_heads=(
        pooled_classifier("AlbertForSequenceClassification", "albert.pooler", "classifier"),
        tagger("AlbertForTokenClassification"),
        answerer("AlbertForQuestionAnswering"),
        chooser("AlbertForMultipleChoice", "albert.pooler"),
    ),
)


def _electra_objective(names: Collection[str]) -> MaskedLM | ReplacedTokenDetection:
    """A generator is a masked LM; anything else counts as a discriminator."""
    is_generator = any(name.startswith("generator_") for name in names)
    return _masked_lm(names) if is_generator else ReplacedTokenDetection()


ELECTRA = Family(
    "electra",
    "ElectraModel",
    "electra",
    (
        *_bert_fields(hidden_size=256, num_attention_heads=4, intermediate_size=1024),
        _LENGTH,
        _EMBEDDING_WIDTH,
    ),
    _LEARNED,
    _electra_objective,
    encoders.electra_backbone,
    (
        FamilyHeads(
            "ElectraForPreTraining",
            "replaced_token_detection",
            ("rtd",),
            encoders.electra_detection,
        ),
        *_masked_heads("ElectraForMaskedLM", encoders.electra_masked_lm, _has_gelu),
    ),
    _ABSOLUTE,
    copies={"generator_lm_head.weight": f"electra.{_TOKENS}"},
    task_heads=(
        not_ours("ElectraForSequenceClassification", _OTHER_POOLER.format("gelu")),
        tagger("ElectraForTokenClassification"),
        answerer("ElectraForQuestionAnswering"),
    ),
)


# What transformers takes where a configuration says nothing.
_DEBERTA_DEFAULTS = {
    "relative_attention": False,
    "share_att_key": False,
    "norm_rel_ebd": "none",
    "position_biased_input": True,
}
_POSITION_TERMS = ["p2c", "c2p"]
# One vector a distance.
_NO_BUCKETS = -1


def _position_terms(said: Any) -> Any:
    """Returns the terms of attention that read positions, in the one order that is written."""
    if isinstance(said, str):
        said = [each.strip() for each in said.lower().split("|")]
    said = [] if said is None else said
    return _POSITION_TERMS if isinstance(said, list) and sorted(map(str, said)) == ["c2p", "p2c"] else said


def _spread_deberta(config: dict[str, Any]) -> dict[str, Any]:
    farthest = whole_number(config, "max_relative_positions", -1)
    if farthest < 1:
        farthest = whole_number(config, "max_position_embeddings", 512)
    for key, heads in (("embedding_size", 1), ("attention_head_size", config.get("num_attention_heads", 24))):
        # Both follow from the width wherever they are not stated.
        if (found := config.get(key)) is not None and found * heads != config.get("hidden_size", 1536):
            raise InteropError(f"{key}: {found!r} cannot be expressed here next to this hidden_size")
    return {
        **_DEBERTA_DEFAULTS,
        **config,
        "pos_att_type": _position_terms(config.get("pos_att_type")),
        "max_relative_positions": farthest,
        "position_buckets": whole_number(config, "position_buckets", _NO_BUCKETS),
    }


def _gathered_deberta(config: dict[str, Any]) -> dict[str, Any]:
    farthest = config["max_relative_positions"]
    return {"max_position_embeddings": farthest, **config}


DEBERTA = Family(
    "deberta-v2",
    "DebertaV2Model",
    "deberta",
    (
        *_bert_fields(
            num_hidden_layers=24,
            hidden_size=1536,
            num_attention_heads=24,
            intermediate_size=6144,
            layer_norm_eps=1e-7,
        )[:-1],
        Field("position_buckets", "positions.buckets", _NO_BUCKETS, lambda found: max(found, 0) or None),
        Field("max_relative_positions", "positions.max_distance"),
    ),
    {**_ENCODER, "positions.kind": "disentangled", "embeddings.segments": 0},
    _masked_lm,
    encoders.deberta_backbone,
    _masked_heads("DebertaV2ForMaskedLM", encoders.bert_masked_lm),
    {
        "type_vocab_size": 0,
        "relative_attention": True,
        "pos_att_type": _POSITION_TERMS,
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
        "position_biased_input": False,
        "conv_kernel_size": 0,
        "tie_word_embeddings": True,
    },
    copies=_tied("cls.predictions.decoder", f"deberta.{_TOKENS}", "cls.predictions.bias"),
    spread=_spread_deberta,
    gathered=_gathered_deberta,
    task_heads=(
        not_ours("DebertaV2ForSequenceClassification", _OTHER_POOLER.format("gelu")),
        tagger("DebertaV2ForTokenClassification"),
        answerer("DebertaV2ForQuestionAnswering"),
    ),
    length_key="max_position_embeddings",
)


def _spread_xlnet(config: dict[str, Any]) -> dict[str, Any]:
    width, heads = whole_number(config, "d_model", 1024), whole_number(config, "n_head", 16)
    head = config.get("d_head")
    if head is not None and head * heads != width:
        raise InteropError(f"d_head: {head!r} times n_head: {heads} is not d_model: {width}")
    return config


XLNET = Family(
    "xlnet",
    "XLNetModel",
    "transformer",
    (
        Field("n_layer", "layers", 24),
        Field("d_model", "width", 1024),
        Field("n_head", "attention.heads", 16),
        Field("d_inner", "feed_forward.width", 4096),
        activation("ff_activation"),
        Field("dropout", "dropout", 0.1),
        Field("dropout", "attention.dropout", 0.1),
        Field("dropout", "feed_forward.dropout", 0.1),
        Field("initializer_range", "initializer_stddev", 0.02),
        Field("layer_norm_eps", "norm_epsilon", 1e-12),
    ),
    {"kind": "two_stream_transformer"},
    lambda names: PermutationLM(),
    two_streams.xlnet_backbone,
    (FamilyHeads("XLNetLMHeadModel", "permutation_lm", ("lm",), two_streams.xlnet_lm),),
    {
        "untie_r": True,
        "attn_type": "bi",
        "clamp_len": -1,
        "same_length": False,
        "tie_word_embeddings": True,
    },
    copies={"lm_loss.weight": "transformer.word_embedding.weight"},
    spread=_spread_xlnet,
    task_heads=(
        pooled_classifier(
            "XLNetForSequenceClassification",
            "sequence_summary.summary",
            "logits_proj",
            only={"summary_type": "last", "summary_activation": "tanh", "summary_use_proj": True},
        ),
        tagger("XLNetForTokenClassification"),
        answerer("XLNetForQuestionAnsweringSimple"),
        not_ours("XLNetForQuestionAnswering", "chooses the last token of an answer after its first one"),
    ),
)
