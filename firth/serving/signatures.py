"""The signatures that a model may have."""

from collections.abc import Callable

from firth.recipes.run.run_recipe import RunRecipe
from firth.serving import attention, continuation, embeddings, fill_mask, score
from firth.serving.schemas.signature import offer_schemas
from firth.serving.signature import Signature
from firth.serving.task_signatures import answer, choose, classify, generate, reply, tag
from firth.tokenizers.graph.special_pieces import MASK

Offer = Callable[[RunRecipe], Signature | None]


def _for_task(name: str, signature: Signature, fact: str = "signature") -> Offer:
    """Returns the function that offers a signature to the recipes whose task states a name in a fact."""
    return lambda recipe: signature if getattr(recipe.goal, fact, "") == name else None


# Each from a recipe to its signature, or to None if the recipe's model has no such signature.
SIGNATURES: dict[str, Offer] = {
    "fill_mask": fill_mask.offer,
    "score": score.offer,
    **{name: _for_task(name, each) for name, each in classify.SIGNATURES.items()},
    "tag": _for_task("tag_words", tag.TAG),
    "tag_words": _for_task("tag_words", tag.TAG_WORDS),
    "answer": _for_task("answer", answer.ANSWER),
    "choose": choose.offer,
    "generate": lambda recipe: generate.offer(recipe) or continuation.offer(recipe),
    "reply": _for_task("reply", reply.REPLY),
    "reply_turns": _for_task("reply", reply.REPLY_TURNS),
    "score_replies": _for_task("score_replies", reply.SCORE_REPLIES, "scored_by"),
    "embed": embeddings.offer,
    "embed_tokens": embeddings.offer_tokens,
    "attention": attention.offer,
}


def text_signatures(recipe: RunRecipe, mask: str | None = MASK) -> dict[str, Signature]:
    """Returns the signatures of a recipe's model that read strings, the default one first.

    `fill_mask` where pieces are predicted for `[MASK]`, `score` for language models (with a
    `target` where there is a prefix or an encoder), the signature of a task, `embed` and `embed_tokens` for
    all encoders and biLMs, `attention` where `export.attention` asks for it, `generate` for all that write,
    and `generate_NAME` for each schema. Those with parameters come last, so that none is the default where
    there is another.

    Raises:
        ValueError: if a signature needs a mask and the tokenizer has no such piece.
    """
    offered = {name: offer(recipe) for name, offer in SIGNATURES.items()}
    made = {name: _with_mask(name, found, mask) for name, found in offered.items() if found is not None}
    made |= offer_schemas(recipe)
    return dict(sorted(made.items(), key=lambda each: bool(each[1].parameters)))


def _with_mask(name: str, signature: Signature, mask: str | None) -> Signature:
    try:
        return signature.asking_with(mask)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
