"""The description of an exported tokenizer: special pieces, chat template in Jinja, bytes of tokens."""

import json
import os
from collections.abc import Sequence
from typing import Any

from firth import storage
from firth.constraints.matcher import ConstraintError
from firth.constraints.token_bytes import TokenBytes
from firth.generation.framing import framing_of
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tokenizers.chat_template import ASSISTANT, SYSTEM, USER
from firth.serving.exported_model import FOLDER
from firth.tokenizers.chat import SPACES, Chat, ChatTemplateError

# Next to firth.json.
FILE = "token_bytes.json"


def describe_tokenizer(tokenizer: Any, recipe: RunRecipe) -> dict[str, Any]:
    """Returns the description of a model's tokenizer, fit for JSON.

    Args:
        tokenizer: The tokenizer.
        recipe: Recipe of the run.

    Returns:
        kind: Name of its type.
        special_pieces: Ids of its special pieces by their names.
        roles: Names of those with a role, by the role, such as `sep`.
        before, after: Ids of the pieces around each prompt of a model that writes; empty for others.
        prefix: Text before each prompt of a model that writes; empty for none.
        chat_template: Its chat template as a program in Jinja; None if it has none.
    """
    goal: Any = recipe.goal
    writes = bool(goal.text_end) and not getattr(goal, "pair", False)
    framing = framing_of(recipe, tokenizer) if writes else None
    # Tokenizers of words have none of the roles.
    specials = getattr(tokenizer, "specials", None)
    return {
        "kind": recipe.tokenizer.kind,
        "special_pieces": {str(tokenizer.id_to_token(each)): int(each) for each in tokenizer.special_ids},
        "roles": {} if specials is None else dict(specials.by_role),
        "before": [] if framing is None else list(framing.before),
        "after": [] if framing is None else list(framing.after),
        "prefix": "" if framing is None else goal.prompt_prefix,
        "chat_template": _program(tokenizer),
    }


def _program(tokenizer: Any) -> str | None:
    if getattr(tokenizer, "chat_template", None) is None:
        return None
    try:
        return jinja_program(Chat(tokenizer))
    except ChatTemplateError:
        # A template that nothing was learned with may name pieces that the vocabulary lacks.
        return None


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


def write_token_bytes(directory: str, tokens: TokenBytes) -> None:
    """Writes the bytes of a model's tokens into the folder of its SavedModel.

    Args:
        directory: Folder of the SavedModel.
        tokens: The bytes; in the file a character up to U+00FF is a byte.
    """
    texts = [None if each is None else each.decode("latin-1") for each in tokens.texts]
    described = {"end_id": tokens.end_id, "texts": texts}
    storage.write_text(os.path.join(directory, FOLDER, FILE), json.dumps(described))


def read_token_bytes(directory: str) -> TokenBytes:
    """Returns the bytes of the tokens of an exported model.

    Args:
        directory: Folder of its SavedModel.

    Raises:
        ConstraintError: if an earlier version of firth exported it.
    """
    path = os.path.join(directory, FOLDER, FILE)
    described = storage.read_json(path)
    if described is None:
        raise ConstraintError(
            f"there is no {path}, which texts under a constraint need: export the model again"
        )
    texts = (None if each is None else each.encode("latin-1") for each in described["texts"])
    return TokenBytes(tuple(texts), int(described["end_id"]))
