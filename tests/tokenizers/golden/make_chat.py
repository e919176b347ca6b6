r"""Writes chat.json: dialogues as transformers writes them with chat templates, and as a BPE reads them.

    python3.11 -m venv build/transformers
    build/transformers/bin/pip install torch==2.13.0 transformers==5.23.0
    build/transformers/bin/python tests/tokenizers/golden/make_chat.py

The templates write the published formats in Jinja; a model writes the part in `generation`. The file holds
the versions, the vocabulary and merges, and for each template and dialogue the text, ids, the mask of the
written tokens, and the ids that ask for a reply to all but the last message.
"""

import json
import pathlib

import tokenizers
import transformers

TARGET = pathlib.Path(__file__).with_name("chat.json")
SPECIALS = ["<s>", "</s>", "<|im_start|>", "<|im_end|>"]
SPECIALS += ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]
_CONTENT = "{% generation %}{{ CONTENT + END }}{% endgeneration %}"


def template(before: str, content: str, end: str, asks: str, start: str = "''", after: str = "''") -> str:
    """A template in which all turns are written alike."""
    written = _CONTENT.replace("CONTENT", content).replace("END", end)
    given = f"{{{{ {content} + {end} }}}}"
    chosen = f"{{% if message['role'] == 'assistant' %}}{written}{{% else %}}{given}{{% endif %}}"
    turns = f"{{% for message in messages %}}{{{{ {before} }}}}{chosen}{{{{ {after} }}}}{{% endfor %}}"
    return f"{{{{ {start} }}}}{turns}{{% if add_generation_prompt %}}{{{{ {asks} }}}}{{% endif %}}"


TEMPLATES = {
    "chatml": template(
        r"'<|im_start|>' + message['role'] + '\n'",
        "message['content']",
        "'<|im_end|>'",
        r"'<|im_start|>assistant\n'",
        after=r"'\n'",
    ),
    "llama_3": template(
        r"'<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'",
        "(message['content'] | trim)",
        "'<|eot_id|>'",
        r"'<|start_header_id|>assistant<|end_header_id|>\n\n'",
        start="'<|begin_of_text|>'",
    ),
    "llama_2": (
        r"{% set inside = namespace(text='') %}{% for message in messages %}"
        r"{% if message['role'] == 'system' %}"
        r"{% set inside.text = '<<SYS>>\n' + message['content'] + '\n<</SYS>>\n\n' %}"
        r"{% elif message['role'] == 'user' %}"
        r"{{ '<s>[INST] ' + inside.text + (message['content'] | trim) + ' [/INST]' }}"
        r"{% set inside.text = '' %}{% else %}{% generation %}"
        r"{{ ' ' + (message['content'] | trim) + ' </s>' }}{% endgeneration %}{% endif %}{% endfor %}"
    ),
}
TEXTS = [
    [("user", "Who wrote Hamlet?"), ("assistant", "William Shakespeare did.")],
    [
        ("system", "Answer in a word, or two."),
        ("user", "What do whales eat?\nAnd sharks?"),
        ("assistant", "Krill;\n\n- and seals."),
        ("user", "Naïveté, in 12 words… 中文!"),
        ("assistant", "It's the state of being naïve."),
    ],
    [("user", "  Two spaces  "), ("assistant", "Kept or   not.")],
]


def main() -> None:
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=SPECIALS,
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    words = ["system user assistant INST SYS", *[content for turns in TEXTS for _, content in turns]]
    model.train_from_iterator(words * 3, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, bos_token="<s>", eos_token="</s>"
    )
    described = json.loads(model.to_str())["model"]
    dialogues = [[{"role": role, "content": content} for role, content in turns] for turns in TEXTS]
    made = {
        name: [rendered(tokenizer, jinja, each) for each in dialogues] for name, jinja in TEMPLATES.items()
    }
    said = {
        "made_with": {"transformers": transformers.__version__, "tokenizers": tokenizers.__version__},
        "vocabulary": sorted(described["vocab"], key=described["vocab"].__getitem__),
        "merges": [" ".join(each) for each in described["merges"]],
        "dialogues": dialogues,
        "templates": made,
    }
    TARGET.write_text(json.dumps(said, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def rendered(tokenizer, jinja: str, messages: list[dict[str, str]]) -> dict[str, object]:
    found = tokenizer.apply_chat_template(
        messages, chat_template=jinja, tokenize=True, return_dict=True, return_assistant_tokens_mask=True
    )
    asked = tokenizer.apply_chat_template(
        messages[:-1], chat_template=jinja, tokenize=True, return_dict=True, add_generation_prompt=True
    )
    return {
        "text": tokenizer.apply_chat_template(messages, chat_template=jinja, tokenize=False),
        "ids": found["input_ids"],
        "written": found["assistant_masks"],
        "asked": asked["input_ids"],
    }


if __name__ == "__main__":
    main()
