"""Chat templates as programs in Jinja write what the templates write."""

import itertools

import jinja2.sandbox
import pytest

from firth.recipes.tokenizers.chat_template import TEMPLATES, ChatTemplate, ReplyTurn, Turn
from firth.serving.slots.tokenizer_description import jinja_program
from firth.tokenizers.chat import Chat
from tests.tokenizers.chat_test import SAID, word_piece

HOSTILE = '{{ 7 * 7 }} {% raw %} "\\n" \u2028 \U0001f600 [CLS]'
OWN = ChatTemplate(
    start=({"role": "cls"}, {"text": HOSTILE}),
    user=Turn(before=({"text": "\\'\"\r\n"},), after=({"piece": "<|im_end|>"},)),
    assistant=ReplyTurn(lead="\U0001f600", end=({"role": "sep"},)),
)


@pytest.mark.parametrize("trims", [jinja2.sandbox.ImmutableSandboxedEnvironment, jinja2.Environment])
@pytest.mark.parametrize("template", [*TEMPLATES, OWN])
def test_programs_write_what_the_templates_write(template, trims):
    chat = Chat(word_piece(template))
    # As libraries that run such programs set them, and as Jinja does.
    blocks = trims is not jinja2.Environment
    program = trims(trim_blocks=blocks, lstrip_blocks=blocks).from_string(jinja_program(chat))
    spaced = [{**each, "content": f" \n{each['content']}\t{HOSTILE}\u00a0 "} for each in SAID]
    for said, size, begins in itertools.product((SAID, spaced), (1, 2, 3, 4), (0, 1)):
        messages = said[begins : begins + size]
        asks = messages[-1]["role"] == "user"
        if messages[-1]["role"] == "system":
            continue
        found = program.render(messages=messages, add_generation_prompt=asks)
        if messages[0]["role"] != "assistant":
            assert found == chat.text(messages, asks)
