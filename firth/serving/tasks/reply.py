"""The signature `reply`: what a model answers to a user, as it learned from dialogues."""

from typing import Any

import tensorflow as tf

from firth.generation import StackReader, WrittenTexts, write_greedily
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.served import Served
from firth.serving.signature import Answer, Signature
from firth.tokenizers.chat import Chat

_ANSWER = Answer(
    {name: name for name in ("reply", "log_probability", "is_finished")},
    lines="{{ reply }}{{ '' if is_finished else ' ...' }}",
)


def offer(recipe: RunRecipe) -> Signature | None:
    """Returns the signature, if the recipe's task is to answer the turns of dialogues.

    Args:
        recipe: Recipe of the model.
    """
    goal: Any = recipe.goal
    if getattr(goal, "signature", "") != "reply":
        return None
    return Signature(
        reply, ("truncated",), ("text",), {"text": "What can you do?"}, answer=_ANSWER, reads_heads=True
    )


def reply(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the reply to the first turn of a dialogue, the likeliest token at each place.

    Args:
        served: Model and tokenizer.
        text: What the user says, string [batch]. Special pieces in it are ordinary text.

    Returns:
        reply: string [batch].
        log_probability: float32 [batch], of its tokens and its end.
        is_finished: bool [batch], False if it has no end within the most tokens.
        truncated: bool [batch], whether the text was cut.
    """
    chat = Chat(served.tokenizer)
    prompts = chat.prompts(text, served.row_length - served.task.reply_tokens)
    written = write_reply(served, chat, prompts.ids)
    replies = served.tokenizer.detokenize(written.ids)
    return {
        "reply": tf.strings.strip(replies) if chat.template.assistant.trims else replies,
        "log_probability": written.log_probability,
        "is_finished": written.is_finished,
        "truncated": prompts.is_cut,
    }


def write_reply(served: Served, chat: Chat, prompts: tf.RaggedTensor) -> WrittenTexts:
    """Writes the likeliest reply to each prompt.

    Args:
        served: Model and tokenizer.
        chat: Template of the tokenizer.
        prompts: Pieces of each dialogue up to its reply, ragged int32 [batch, (pieces)].
    """
    most, may_write = served.task.reply_tokens, served.proposable()
    may_write[chat.end_id] = True
    reader = StackReader(served.model, prompts, most, served.tokenizer.pad_id)
    return write_greedily(reader, most, chat.end_id, may_write)
