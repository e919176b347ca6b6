"""Rules of the encoders: BERT, RoBERTa, ALBERT, ELECTRA and DeBERTa."""

from firth.interop.hugging_face.blocks import (
    bert_block,
    bert_embeddings,
    blocks,
    heads_of,
    masked_lm_head,
)
from firth.interop.hugging_face.rules import Rules, below, feed_forward, linear, norm, same, self_attention
from firth.recipes.goals.goal import Goal
from firth.recipes.models.stack import StackConfig
from firth.recipes.models.transformers import MaskedTransformerConfig
from firth.recipes.objectives.generator import generator_of
from firth.recipes.objectives.masking import ReplacedTokenDetection

ENCODER = "backbone/encoder"


def bert_backbone(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of BERT's encoder, by names below the base model.

    Args:
        model: Model of the recipe.
    """
    yield from bert_embeddings("embeddings", model)
    yield from blocks("encoder.layer", ENCODER, bert_block, model.stack)


def bert_heads(model: MaskedTransformerConfig, goal: Goal) -> Rules:
    """Yields the rules of the heads of masked LM and of next sentence prediction.

    Args:
        model: Model of the recipe.
        goal: Goal of the recipe.
    """
    del model
    transform = "cls.predictions.transform"
    yield from masked_lm_head(f"{transform}.dense", f"{transform}.LayerNorm", "cls.predictions.bias")
    if goal.trains_pooler:
        yield from linear("bert.pooler.dense", "heads/pooler/dense")
        yield from linear("cls.seq_relationship", "heads/pair_head/dense")


def roberta_heads(model: MaskedTransformerConfig, goal: Goal) -> Rules:
    """Yields the rules of RoBERTa's head.

    Args:
        model: Model of the recipe.
        goal: Goal of the recipe.
    """
    del model, goal
    yield from masked_lm_head("lm_head.dense", "lm_head.layer_norm", "lm_head.bias")


def albert_backbone(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of ALBERT's encoder, whose groups of blocks are applied again and again.

    Args:
        model: Model of the recipe.
    """
    yield from bert_embeddings("embeddings", model)
    yield from linear("encoder.embedding_hidden_mapping_in", "backbone/projection")
    shared = model.share_layers
    groups, inner = (shared.groups, shared.blocks) if shared else (model.layers, 1)
    for group in range(groups):
        for block in range(inner):
            theirs = f"encoder.albert_layer_groups.{group}.albert_layers.{block}."
            ours = f"{ENCODER}/block_{group * inner + block}"
            yield from below(theirs, _albert_block(model.stack, ours))


def _albert_block(stack: StackConfig, ours: str) -> Rules:
    parts = [f"attention.{part}" for part in ("query", "key", "value", "dense")]
    yield from self_attention(parts, f"{ours}/attention", heads_of(stack))
    yield from norm("attention.LayerNorm", f"{ours}/attention_norm")
    yield from feed_forward("ffn", "ffn_output", f"{ours}/feed_forward")
    yield from norm("full_layer_layer_norm", f"{ours}/feed_forward_norm")


def albert_heads(model: MaskedTransformerConfig, goal: Goal) -> Rules:
    """Yields the rules of the heads of masked LM and of sentence order.

    Args:
        model: Model of the recipe.
        goal: Goal of the recipe.
    """
    del model
    yield from masked_lm_head("predictions.dense", "predictions.LayerNorm", "predictions.bias")
    if goal.trains_pooler:
        yield from linear("albert.pooler", "heads/pooler/dense")
        yield from linear("sop_classifier.classifier", "heads/pair_head/dense")


def electra_backbone(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of ELECTRA's discriminator.

    Args:
        model: Model of the recipe.
    """
    if model.embedding_width != model.width:
        yield from linear("embeddings_project", "backbone/projection")
    yield from bert_backbone(model)


def deberta_backbone(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of DeBERTa's encoder.

    Args:
        model: Model of the recipe.
    """

    def block(stack: StackConfig, ours: str) -> Rules:
        return bert_block(stack, ours, ("query_proj", "key_proj", "value_proj"))

    yield same("embeddings.word_embeddings.weight", "backbone/token_embedding/table")
    yield from norm("embeddings.LayerNorm", "backbone/embeddings/norm")
    yield from blocks("encoder.layer", ENCODER, block, model.stack)
    yield same("encoder.rel_embeddings.weight", f"{ENCODER}/positions/table")
    yield from norm("encoder.LayerNorm", f"{ENCODER}/positions/norm")


def electra_heads(model: MaskedTransformerConfig, goal: Goal) -> Rules:
    """Yields the rules of the discriminator's decision.

    A checkpoint of the generator is a model of its own, so that its weights stand in another folder.

    Args:
        model: Model of the recipe.
        goal: Goal of the recipe.
    """
    del model, goal
    yield from linear("discriminator_predictions.dense", "heads/dense")
    yield from linear("discriminator_predictions.dense_prediction", "heads/decision")


def electra_generator(model: MaskedTransformerConfig, objective: ReplacedTokenDetection) -> Rules:
    """Yields the rules of a generator, a checkpoint of its own that shares the discriminator's embeddings.

    Args:
        model: Model of the recipe, which is the discriminator's.
        objective: Objective of the recipe, which says what the generator's shape is.
    """
    small = generator_of(model, objective)
    yield from linear("electra.embeddings_project", "heads/generator_projection")
    yield from below("electra.", blocks("encoder.layer", "heads/generator", bert_block, small.stack))
    yield from masked_lm_head(
        "generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head.bias"
    )
