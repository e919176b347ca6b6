"""Folders that hold no tokenizer, or a damaged one."""

import json

import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers import read_chat_template, read_tokenizer
from firth.interop.hugging_face.tokenizers.files import Folder
from firth.recipes.tokenizers.chat_template import TEMPLATES
from tests.tokenizers.chat_test import byte_pair

# What is published of each format, as a program. A name that no dialogue has, and loops, do no harm.
CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
LLAMA_2 = (
    "{% set inside = namespace(text='') %}{% for m in messages %}{% if m['role'] == 'system' %}"
    "{% set inside.text = '<<SYS>>\\n' + m['content'] + '\\n<</SYS>>\\n\\n' %}"
    "{% elif m['role'] == 'user' %}"
    "{{ bos_token + '[INST] ' + inside.text + m['content'] + ' [/INST]' }}"
    "{% set inside.text = '' %}{% elif m['role'] == 'assistant' %}"
    "{{ ' ' + m['content'] + ' ' + eos_token }}"
    "{% else %}{{ raise_exception('unknown') }}{% endif %}{% endfor %}"
)
LLAMA_3 = (
    "{% for m in messages %}{% if loop.first %}{{ bos_token }}{% endif %}"
    "{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\\n\\n' }}"
    "{{ m['content'] | trim + '<|eot_id|>' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"
)
KNOWN = {
    "chatml": (CHATML, "", ""),
    "llama_2": (LLAMA_2, "[CLS]", {"content": "[SEP]"}),
    "llama_3": (LLAMA_3, "<|begin_of_text|>", ""),
}
UNKNOWN = {
    "{{ messages[0]['content'] }}": "is not one of chatml, llama_2, llama_3, plain",
    "{{ raise_exception('no') }}": "cannot be run: no",
    "{% if %}": "cannot be run: Expected an expression, got 'end of statement block'",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}": "cannot be run: access to attribute '__class__'",
    "{% for a in range(999999999) %}x{% endfor %}": "cannot be run: Range too big",
}


def test_a_folder_without_a_tokenizer(tmp_path):
    with pytest.raises(InteropError, match=r"holds neither tokenizer.json nor vocab.txt"):
        read_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"model":\n  {', r"tokenizer.json:2:4: is not JSON"),
        ("[]", "must hold a mapping"),
        ("{}", "holds no model"),
        ('{"model": {"type": 3}}', "model.type: 3 cannot be read; one of: .*WordPiece"),
        ('{"model": {"type": "WordPiece", "vocab": []}}', "normalizer.type: None"),
    ],
)
def test_a_broken_file(tmp_path, text, message):
    (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(InteropError, match=message):
        read_tokenizer(tmp_path)


def test_a_file_that_is_no_text(tmp_path):
    (tmp_path / "tokenizer.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(InteropError, match=r"tokenizer.json: is not UTF-8"):
        read_tokenizer(tmp_path)


def read(folder, program, bos="", eos=""):
    settings = {"chat_template": program, "bos_token": bos, "eos_token": eos}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return read_chat_template(Folder(folder), byte_pair().with_chat_template(None))


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_template_comes_in(tmp_path, name):
    program, bos, eos = KNOWN[name]
    assert read(tmp_path, program, bos, eos) == (TEMPLATES[name], ())
    named = [{"name": "tools", "template": "x"}, {"name": "default", "template": program}]
    assert read(tmp_path, named, bos, eos).template == TEMPLATES[name]
    (tmp_path / "chat_template.jinja").write_text(program)
    assert read(tmp_path, "", bos, eos).template == TEMPLATES[name]


@pytest.mark.parametrize("program", UNKNOWN)
def test_another_one_is_named_and_does_no_harm(tmp_path, program):
    found = read(tmp_path, program)
    (note,) = found.notes
    assert found.template is None and note.startswith(f"The tokenizer's chat template {UNKNOWN[program]}")


def test_a_folder_without_one_says_nothing(tmp_path):
    assert read_chat_template(Folder(tmp_path), byte_pair()) == (None, ())
    assert read(tmp_path, None) == (None, ())
