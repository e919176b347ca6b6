"""Chat templates as programs in Jinja, which other libraries run."""

from collections.abc import Sequence
from typing import Any

from firth.recipes.tokenizers.chat_template import ASSISTANT, SYSTEM, USER
from firth.tokenizers.chat import SPACES, Chat


def jinja_program(chat: Chat) -> str:
    """Returns the program that writes a dialogue as `Chat.text` does, with special pieces by their names.

    It reads `messages` and `add_generation_prompt`, as those of Hugging Face's tokenizers do. The order of
    the messages is not checked.

    Args:
        chat: Template of a tokenizer.
    """
    template, inside = chat.template, chat.template.system_inside
    system = _written(chat, (*template.system.before, 0, *template.system.after), SYSTEM, "messages[0]")
    user = template.user
    # The instructions are written by the turn after them.
    begun = f"{{%- if loop.index0 == 1 and messages[0]['role'] == '{SYSTEM}' %}}{system}{{%- endif %}}"
    turns = {
        SYSTEM: ""
        if inside
        else _written(chat, (*template.system.before, 0, *template.system.after), SYSTEM),
        USER: _written(chat, user.before, USER)
        + (begun if inside else "")
        + _written(chat, (0, *user.after), USER),
        ASSISTANT: _written(
            chat,
            (
                *template.assistant.before,
                template.assistant.lead,
                0,
                *template.assistant.end,
                *template.assistant.after,
            ),
            ASSISTANT,
        ),
    }
    branches = "".join(
        f"{{%- {'el' if number else ''}if message['role'] == '{speaker}' %}}{text}"
        for number, (speaker, text) in enumerate(turns.items())
    )
    asked = _written(chat, template.assistant.before, ASSISTANT)
    return (
        f"{_written(chat, template.start, SYSTEM)}{{%- for message in messages %}}{branches}{{%- endif %}}"
        f"{{%- endfor %}}{{%- if add_generation_prompt %}}{asked}{{%- endif %}}"
    )


def _written(chat: Chat, parts: Sequence[Any], speaker: str, message: str = "message") -> str:
    """Returns the expressions that write parts; 0 is the text of a message."""
    trims = f" | trim({_quoted(SPACES)})" if chat.template.turns[speaker].trims else ""
    own = f"{{{{- {message}['content']{trims} }}}}"
    return "".join(
        own if text is None else f"{{{{- {_quoted(text)} }}}}" for text in chat.named(parts) if text != ""
    )


def _quoted(text: str) -> str:
    r"""Returns a text as Jinja reads it in quotes.

    Example:

    >>> print(_quoted('a "b"\n'))
    "a \"b\"\n"
    """
    escaped = text.encode("unicode_escape").decode().replace('"', '\\"')
    return f'"{escaped}"'
