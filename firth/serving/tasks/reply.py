"""The signature `reply`: what a model answers to a user, as it learned from dialogues."""

from typing import Any

import tensorflow as tf

from firth.generation import Prompts, reader_of
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.descriptions.output import Output, truncated
from firth.serving.served import Served
from firth.serving.signature import Answer, Signature
from firth.serving.tasks.written import write_likeliest
from firth.tokenizers.chat import Chat

OUTPUTS = {
    "reply": Output("what the model replies, in UTF-8", "string", is_invariant=False),
    "log_probability": Output(
        "natural logarithm of the probability of its tokens and its end", is_invariant=False
    ),
    "is_finished": Output("false if no end came within the most tokens", "bool", is_invariant=False),
    "truncated": truncated("the turn was longer than there is room for and was cut"),
}
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
        reply,
        OUTPUTS,
        "Replies to the first turn of a dialogue, the likeliest token at each place.",
        {"text": "what the user says"},
        {"text": "What can you do?"},
        answer=_ANSWER,
        reads_heads=True,
    )


def reply(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the reply to the first turn of a dialogue, the likeliest token at each place.

    Args:
        served: Model and tokenizer.
        text: What the user says, string [batch]. Special pieces in it are ordinary text.

    Returns:
        What `OUTPUTS` describes.
    """
    chat = Chat(served.tokenizer)
    asked = chat.prompts(text, served.task.prompt_places(served.recipe.sequences))
    prompts = Prompts.of(asked.ids, served.tokenizer.pad_id)
    reader = reader_of(served.model, served.tokenizer, ())
    written = write_likeliest(served, reader, prompts, chat.end_id, served.task.reply_tokens)
    replies = served.tokenizer.detokenize(written.ids)
    return {
        "reply": tf.strings.strip(replies) if chat.template.assistant.trims else replies,
        "log_probability": written.log_probability,
        "is_finished": written.is_finished,
        "truncated": asked.is_cut,
    }
