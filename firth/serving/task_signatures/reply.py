"""The signatures `reply` and `reply_turns`: what a model answers to a user, as it learned from dialogues."""

from typing import Any

import tensorflow as tf

from firth.generation import Prompts, reader_of
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.descriptions.output import Output, Reading, reading
from firth.serving.served_model import Served
from firth.serving.signature import Answer, Signature
from firth.serving.task_signatures.text_answers import write_likeliest
from firth.tokenizers.chat import Chat, UserPrompts
from firth.tokenizers.dialogue_prompts import dialogue_prompts

OUTPUTS = {
    "reply": Output("what the model replies, in UTF-8", "string", is_invariant=False),
    "log_probability": Output(
        "natural logarithm of the probability of its tokens and its end", is_invariant=False
    ),
    "is_finished": Output("false if no end came within the most tokens", "bool", is_invariant=False),
    **reading("the dialogue had no room, and its oldest turns or the end of the last one were left out"),
}
_ANSWER = Answer(
    {name: name for name in ("reply", "log_probability", "is_finished")},
    lines="{{ reply }}{{ '' if is_finished else ' ...' }}",
)


def offer(recipe: RunRecipe) -> Signature | None:
    """Returns the signature `reply`, if the recipe's task is to answer the turns of dialogues."""
    goal: Any = recipe.goal
    if getattr(goal, "signature", "") != "reply":
        return None
    return Signature(
        reply,
        OUTPUTS,
        "Replies to the first turn of a dialogue, the likeliest token at each place.",
        {"text": "what the user says"},
        {"text": "What can you do?"},
        words_by="reply_turns",
        answer=_ANSWER,
        reads_heads=True,
    )


def offer_turns(recipe: RunRecipe) -> Signature | None:
    """Returns the signature `reply_turns`, if the recipe's task is to answer the turns of dialogues."""
    goal: Any = recipe.goal
    if getattr(goal, "signature", "") != "reply":
        return None
    return Signature(
        reply_turns,
        OUTPUTS,
        "Replies to the last turn of a dialogue, as the model learned dialogues.",
        {
            "messages": "what the user says and the replies to it in turn; a reply at the end is left out",
            "system": "instructions for the whole dialogue",
        },
        {"messages": ("Hello!", "Hello. What can I do?", "Tell me about words.")},
        lists={"messages": " | "},
        optional=("system",),
        texts_by="reply",
        answer=_ANSWER,
        reads_heads=True,
    )


def reply(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the reply to the first turn of a dialogue, the likeliest token at each place.

    Args:
        text: What the user says, string [batch]. Special pieces in it are ordinary text.
    """
    chat = Chat(served.tokenizer)
    return _written(served, chat, chat.prompts(text, _room(served)))


def reply_turns(served: Served, messages: tf.Tensor, system: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the reply to the last turn of a dialogue, the likeliest token at each place.

    Args:
        messages: Turns of the user and replies in turn, string [batch, turns], with empty strings after the
            last one.
        system: Instructions for each whole dialogue, string [batch]; empty for none.
    """
    chat, turns = Chat(served.tokenizer), tf.RaggedTensor.from_tensor(messages, padding="")
    return _written(served, chat, dialogue_prompts(chat, turns, system, _room(served)))


def _room(served: Served) -> int:
    room: int = served.task.prompt_places(served.recipe.sequences)
    return room


def _written(served: Served, chat: Chat, asked: UserPrompts) -> dict[str, tf.Tensor]:
    prompts = Prompts.of(asked.ids, served.tokenizer.pad_id)
    reader = reader_of(served.model, served.tokenizer, ())
    written = write_likeliest(served, reader, prompts, chat.end_id, served.task.reply_tokens)
    replies = served.tokenizer.detokenize(written.ids)
    return {
        "reply": tf.strings.strip(replies) if chat.template.assistant.trims else replies,
        "log_probability": written.log_probability,
        "is_finished": written.is_finished,
        **Reading(asked.ids.row_lengths(), asked.given).outputs,
    }
