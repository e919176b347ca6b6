"""Reads the tokenizer of a folder in Hugging Face's format, and its chat template if it is a known one.

The template is a program in Jinja. It is run on a few dialogues, in Jinja's sandbox, and what it writes is
compared with what the templates of this package write.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import jinja2
import jinja2.sandbox

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers import byte_pair, sentence_piece, word_piece
from firth.interop.hugging_face.tokenizers.files import SETTINGS_FILE, SPECIALS_FILE, TOKENIZER_FILE, Folder
from firth.interop.hugging_face.tokenizers.framing import framing_of
from firth.interop.hugging_face.tokenizers.specials import named_specials
from firth.interop.hugging_face.tokenizers.tokenizer_json import TokenizerFormat, TokenizerJson
from firth.interop.untrusted_files import expected_shape
from firth.recipes.base.errors import suggest
from firth.recipes.tokenizers.chat_template import TEMPLATES, ChatTemplate
from firth.tokenizers.chat import Chat, ChatTemplateError, Message
from firth.tokenizers.piece_tokenizer import PieceTokenizer
from firth.tokenizers.storage import AnyTokenizer

# Formats may share a type of model: the first that fits is taken.
FORMATS: tuple[TokenizerFormat, ...] = (word_piece.FORMAT, byte_pair.FORMAT, *sentence_piece.FORMATS)
# What transformers takes for no bound.
_NO_LENGTH = 10**30
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


def read_tokenizer(path: str | os.PathLike[str]) -> PieceTokenizer:
    """Returns the tokenizer of a folder: of `tokenizer.json`, or of the older files where that is missing.

    Its ids are those of the `tokenizers` package; what cannot be expressed exactly is refused.

    Args:
        path: Path of the folder, on this machine or with a scheme.

    Raises:
        InteropError: if there is no tokenizer, or one that cannot be expressed here exactly, with the file,
            the key and its value.
    """
    folder = Folder(path)
    is_json = folder.holds(TOKENIZER_FILE)
    try:
        with expected_shape(folder.place(TOKENIZER_FILE) if is_json else folder.path):
            return _of_json(folder) if is_json else _of_files(folder)
    except InteropError:
        raise
    except ValueError as error:
        raise InteropError(f"{folder.path}: {error}") from error


def write_tokenizer(
    tokenizer: AnyTokenizer,
    folder: str | os.PathLike[str],
    model_type: str | None = None,
    length: int | None = None,
) -> list[str]:
    r"""Writes a tokenizer into a folder, with the special pieces that a family puts around texts.

    Its ids are those of the tokenizer, with one exception in WordPiece: of a special piece that only the
    normalization of text brings about, such as `[MA\0SK]`, which is not found there.

    Args:
        tokenizer: Tokenizer of any kind.
        folder: Path of the folder, which is there.
        model_type: Family that frames texts, as `config.json` names it; None to put nothing around them.
        length: Most tokens of a text, special ones included; None for no bound.

    Returns:
        Names of the files that were written.

    Raises:
        InteropError: for a tokenizer that cannot be expressed there exactly, with the reason.
    """
    framing = framing_of(model_type)
    try:
        each = _format_of(tokenizer)
        assert each.write is not None
        parts = each.write(tokenizer)
        processor = framing.processor(tokenizer)
    except InteropError:
        raise
    except ValueError as error:
        raise InteropError(str(error)) from error
    added = sorted(parts.pop("added_tokens"), key=lambda token: token.id)
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [token.described() for token in added],
        "normalizer": parts.pop("normalizer"),
        "pre_tokenizer": parts.pop("pre_tokenizer"),
        "post_processor": processor,
        **parts,
    }
    named = named_specials(tokenizer.specials, framing.names)
    settings = {
        # The one class that takes `tokenizer.json` as it is.
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": length or _NO_LENGTH,
        "model_input_names": framing.inputs,
        "clean_up_tokenization_spaces": False,
        **each.settings(tokenizer),
        **named,
    }
    written = {TOKENIZER_FILE: content, SETTINGS_FILE: settings, SPECIALS_FILE: named}
    for name, said in written.items():
        storage.write_json(os.path.join(os.fspath(folder), name), said, indent=2)
    models = each.models(tokenizer, model_type)
    for name, model in models.items():
        with storage.whole_file(os.path.join(os.fspath(folder), name)) as file:
            file.write(model)
    return [*written, *models]


def _of_json(folder: Folder) -> PieceTokenizer:
    source = TokenizerJson(folder)
    said = source.model.get("type")
    candidates = [each for each in FORMATS if each.model_type == said]
    if not candidates:
        near = suggest(str(said), [each.model_type for each in FORMATS])
        raise InteropError(f"{source.file}: model.type: {said!r} cannot be read; {near}")
    for each in candidates:
        if each.fits(source):
            return each.of_json(source)
    titles = " or ".join(each.title for each in candidates)
    raise InteropError(f"{source.file}: model: it is not {titles}, which can be read")


def _of_files(folder: Folder) -> PieceTokenizer:
    formats = [each for each in FORMATS if each.files]
    for each in formats:
        missing = [name for name in each.files if not folder.holds(name)]
        if not missing:
            return each.of_files(folder)
        if len(missing) < len(each.files):
            raise InteropError(f"{folder.path} holds no {missing[0]}, which goes with {each.files[0]}")
    known = " nor ".join(" with ".join(each.files) for each in formats)
    raise InteropError(f"{folder.path} holds neither {TOKENIZER_FILE} nor {known}")


def _format_of(tokenizer: AnyTokenizer) -> TokenizerFormat:
    written = [each for each in FORMATS if each.write is not None]
    for each in written:
        if each.kind == tokenizer.kind:
            return each
    kinds = " and ".join(each.title for each in written)
    raise InteropError(f"a tokenizer of the kind {tokenizer.kind!r} cannot be expressed there; {kinds} can")


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
