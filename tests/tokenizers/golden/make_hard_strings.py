"""Writes hard_strings.json: ids that Hugging Face's BertTokenizerFast gives to hard_strings.py.

It runs in an environment of its own, with Python 3.11 and transformers (no torch):

    python3.11 -m venv ENVIRONMENT
    ENVIRONMENT/bin/pip install transformers
    ENVIRONMENT/bin/python tests/tokenizers/golden/make_hard_strings.py
"""

import importlib.util
import json
import pathlib
import platform
import tempfile

HERE = pathlib.Path(__file__).parent


def load_strings():
    """Returns the module hard_strings.py, loaded from its file: `tests` is no package there."""
    spec = importlib.util.spec_from_file_location("hard_strings", HERE / "hard_strings.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reference(vocabulary: list[str], lowercase: bool):
    import transformers

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "vocab.txt")
        path.write_text("".join(f"{piece}\n" for piece in vocabulary), encoding="utf-8", newline="\n")
        return transformers.BertTokenizerFast(vocab=str(path), do_lower_case=lowercase)


def main() -> None:
    import tokenizers
    import transformers

    source = load_strings()
    golden = {
        "made_by": "transformers.BertTokenizerFast",
        "versions": {
            "python": platform.python_version(),
            "transformers": transformers.__version__,
            "tokenizers": tokenizers.__version__,
        },
        "command": "ENVIRONMENT/bin/python tests/tokenizers/golden/make_hard_strings.py",
        "vocabulary": source.VOCABULARY,
        "strings": source.STRINGS,
    }
    for lowercase, key in ((True, "uncased_ids"), (False, "cased_ids")):
        tokenizer = reference(source.VOCABULARY, lowercase)
        assert tokenizer.vocab_size == len(source.VOCABULARY)
        golden[key] = tokenizer(source.STRINGS, add_special_tokens=False)["input_ids"]
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in golden.items()]
    (HERE / "hard_strings.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
