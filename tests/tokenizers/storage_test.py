import json
import os

import pytest

from firth.recipes.tasks.classification import Classification
from firth.recipes.tasks.dialogue import Dialogue
from firth.recipes.tokenizers.chat_template import TEMPLATES
from firth.tokenizers import (
    TokenizerMismatchError,
    WordPieceTokenizer,
    load_tokenizer,
    save_tokenizer,
    storage,
)
from firth.tokenizers.storage import copy_tokenizer
from tests.tokenizers.golden.hard_strings import SPECIALS, STRINGS, VOCABULARY


@pytest.fixture
def saved(small, tmp_path):
    save_tokenizer(small, tmp_path / "tokenizer")
    return tmp_path / "tokenizer"


def change_settings(folder, **changes):
    path = folder / storage.SETTINGS_FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize("lowercase", [True, False])
def test_what_is_loaded_is_what_was_saved(both, tmp_path, lowercase):
    tokenizer = both[lowercase][0]
    digest = save_tokenizer(tokenizer, tmp_path / "new" / "tokenizer")
    loaded = load_tokenizer(tmp_path / "new" / "tokenizer", expected_digest=digest)
    assert loaded.digest == digest == tokenizer.digest
    assert loaded.get_vocabulary() == VOCABULARY
    assert loaded.tokenize(STRINGS).to_list() == tokenizer.tokenize(STRINGS).to_list()


def test_files(saved):
    assert sorted(path.name for path in saved.iterdir()) == ["_SUCCESS", "tokenizer.json", "vocab.txt"]
    assert (saved / "vocab.txt").read_text().splitlines()[:6] == [*SPECIALS, "the"]
    assert len(json.loads((saved / "tokenizer.json").read_text())["golden"]) >= 9


def test_saving_twice_gives_the_same_bytes(small, saved, tmp_path):
    save_tokenizer(small, tmp_path / "again")
    for name in ("vocab.txt", "tokenizer.json"):
        assert (saved / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_line_separators_in_pieces(tmp_path):
    tokenizer = WordPieceTokenizer([*SPECIALS, "a\u2028b", "\u0085", "\u00a0", "fox"])
    save_tokenizer(tokenizer, tmp_path / "odd")
    assert load_tokenizer(tmp_path / "odd").get_vocabulary() == tokenizer.get_vocabulary()


def test_an_empty_directory_is_filled_and_a_full_one_is_not(small, tmp_path):
    (tmp_path / "empty").mkdir()
    save_tokenizer(small, tmp_path / "empty")
    with pytest.raises(FileExistsError, match="empty"):
        save_tokenizer(small, tmp_path / "empty")


def test_nothing_is_left_of_a_save_that_failed(small, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "SETTINGS_FILE", "vocab.txt/tokenizer.json")
    with pytest.raises(FileExistsError):
        save_tokenizer(small, tmp_path / "tokenizer")
    assert list(tmp_path.iterdir()) == []


def test_another_digest_is_refused(saved):
    with pytest.raises(TokenizerMismatchError, match="expected 0000"):
        load_tokenizer(saved, expected_digest="0000")


def test_a_changed_vocabulary_is_refused(saved):
    text = (saved / "vocab.txt").read_text()
    (saved / "vocab.txt").write_text(text.replace("fox", "cat"))
    with pytest.raises(TokenizerMismatchError, match="digest"):
        load_tokenizer(saved)
    (saved / "vocab.txt").write_text(text.replace("fox", "the"))
    with pytest.raises(TokenizerMismatchError, match=r"vocab\.txt.*'the'"):
        load_tokenizer(saved)


def test_changed_settings_are_refused(saved):
    change_settings(saved, lowercase=False)
    with pytest.raises(TokenizerMismatchError, match="digest"):
        load_tokenizer(saved)


def test_other_ids_for_a_golden_text_are_refused(saved):
    change_settings(saved, golden=[{"text": "the fox", "ids": [5, 9]}])
    with pytest.raises(TokenizerMismatchError, match=r"'the fox' gives \[5, 8\], but gave \[5, 9\]"):
        load_tokenizer(saved)


@pytest.mark.parametrize("content", ["{", "{}", '{"kind": "wordpiece"}', "\udcff"])
def test_damaged_settings_are_refused(saved, content):
    (saved / "tokenizer.json").write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(TokenizerMismatchError, match=r"tokenizer\.json"):
        load_tokenizer(saved)


def test_another_kind_is_refused(saved):
    change_settings(saved, kind="letters")
    with pytest.raises(TokenizerMismatchError, match="'letters'"):
        load_tokenizer(saved)


def test_a_missing_file_is_named(saved):
    (saved / "vocab.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"vocab\.txt"):
        load_tokenizer(saved)


def test_a_tokenizer_that_is_not_on_this_machine(small):
    folder = f"ram://tokenizers/{os.getpid()}"
    digest = save_tokenizer(small, folder)
    loaded = load_tokenizer(folder, expected_digest=digest)
    assert loaded.tokenize(STRINGS).to_list() == small.tokenize(STRINGS).to_list()


def test_a_base_s_tokenizer_is_taken_with_the_template_of_a_task(small, tmp_path):
    save_tokenizer(small, tmp_path / "base")
    dialogue = Dialogue(template="llama_2")
    taken = copy_tokenizer(str(tmp_path / "base"), str(tmp_path / "taken"), dialogue)
    assert load_tokenizer(tmp_path / "taken").chat_template == TEMPLATES["llama_2"]
    assert taken.digest_of_ids == small.digest != taken.digest
    # A task that says none leaves it, and so do one that says the same and one that names none.
    classes = Classification(labels=("no", "yes"))
    for number, task in enumerate([classes, dialogue, Dialogue()]):
        again = copy_tokenizer(str(tmp_path / "taken"), str(tmp_path / f"again{number}"), task)
        assert again.digest == taken.digest
    copied = copy_tokenizer(
        str(tmp_path / "base"), str(tmp_path / "copied"), Classification(labels=("no", "yes"))
    )
    assert copied.chat_template is None
    for path in (tmp_path / "base").iterdir():
        assert (tmp_path / "copied" / path.name).read_bytes() == path.read_bytes()
