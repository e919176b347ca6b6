"""The chat template of a folder in Hugging Face's format, where it is one that is known here.

It is a program in Jinja. It is run on a few dialogues, in Jinja's sandbox, and what it writes is compared
with what the templates of this package write.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import jinja2
import jinja2.sandbox

from firth.interop.hugging_face.tokenizers.files import SETTINGS_FILE, Folder
from firth.recipes.tokenizers.chat_template import TEMPLATES, ChatTemplate
from firth.tokenizers.chat import Chat, ChatTemplateError, Message

TEMPLATE_FILE = "chat_template.jinja"
_KEY = "chat_template"
_SAID: tuple[list[Message], ...] = (
    [{"role": "user", "content": "Who is it?"}, {"role": "assistant", "content": "A friend: me."}],
    [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "one\ntwo"},
        {"role": "assistant", "content": "three"},
        {"role": "user", "content": "four"},
        {"role": "assistant", "content": "five\n\nsix"},
    ],
)


class PublishedTemplate(NamedTuple):
    """The chat template of a folder.

    Attributes:
        template: The template that writes them in the same way; None if there is no such template.
        notes: Sentences about a template that does not come in.
    """

    template: ChatTemplate | None = None
    notes: tuple[str, ...] = ()


def read_chat_template(folder: Folder, tokenizer: Any) -> PublishedTemplate:
    """Returns the chat template of a folder, where the tokenizer is kept with one.

    Args:
        folder: Folder of the tokenizer.
        tokenizer: The tokenizer, as it was read.

    Raises:
        InteropError: if a file of JSON is damaged.
    """
    settings = folder.optional(SETTINGS_FILE)
    program = folder.text(TEMPLATE_FILE) if folder.holds(TEMPLATE_FILE) else _default(settings.get(_KEY))
    if not program:
        return PublishedTemplate()
    pieces = {name: _piece(settings.get(name)) for name in ("bos_token", "eos_token")}
    for template in TEMPLATES.values():
        try:
            if _writes_alike(program, pieces, Chat(tokenizer.with_chat_template(template))):
                return PublishedTemplate(template)
        except ChatTemplateError:
            continue
        # A template is somebody else's program, and whatever is wrong with it, the tokenizer comes in.
        except (
            jinja2.TemplateError,
            ArithmeticError,
            LookupError,
            MemoryError,
            TypeError,
            ValueError,
        ) as error:
            return PublishedTemplate(notes=(_note(f"cannot be run: {error}"),))
    return PublishedTemplate(notes=(_note(f"is not one of {', '.join(TEMPLATES)}"),))


def _note(problem: str) -> str:
    return (
        f"The tokenizer's chat template {problem}; it does not come in. `task.template` of firth finetune "
        "--task dialogue names another, or says one of your own."
    )


def _default(said: Any) -> str:
    """Returns the template of settings that may name several."""
    if isinstance(said, list):
        named = {each.get("name"): each.get("template") for each in said if isinstance(each, Mapping)}
        said = named.get("default")
    return said if isinstance(said, str) else ""


def _piece(said: Any) -> str:
    return str(said.get("content", "")) if isinstance(said, Mapping) else str(said or "")


def _writes_alike(program: str, pieces: Mapping[str, str], chat: Chat) -> bool:
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = _raise
    compiled = environment.from_string(program)
    return all(
        compiled.render(messages=messages, add_generation_prompt=asks, **pieces) == chat.text(messages, asks)
        for messages, asks in _asked()
    )


def _asked() -> Iterator[tuple[list[Message], bool]]:
    for messages in _SAID:
        yield messages, False
        yield messages[:-1], True


def _raise(message: str) -> None:
    raise jinja2.TemplateError(message)
