"""Values that a recipe which adapts a model takes from its data."""

from typing import get_args

import pytest

from firth.recipes import load_recipe
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.data import ColumnData, PublishedData
from firth.recipes.tasks.span import SpanAnswering
from firth.recipes.tasks.tagging import Tagging
from firth.recipes.tasks.text_to_text import BleuTokenizer, TextToText
from firth.scores.bleu import TOKENIZERS
from firth.tasks.readers import FORMATS, RefusedFileError
from firth.tasks.task_options import read_for, task_of_format, with_labels
from tests.exported_model import RECIPE


def recipe(data, task, model=RECIPE.model) -> AdaptingRecipe:
    return AdaptingRecipe(
        name="adapted",
        data=data,
        base={"bundle": "a/bundle", "digest": "0" * 64},
        tokenizer=RECIPE.tokenizer,
        sequences=RECIPE.sequences,
        model=model,
        task=task,
    )


@pytest.fixture
def csv(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,good\nb,bad\nc,fair\n")
    return ColumnData(train=str(tmp_path / "train.csv"))


@pytest.fixture
def mrpc(tmp_path):
    rows = ["Quality\t#1 String\t#2 String", "1\ta\tb", "0\tc\td"]
    (tmp_path / "train.tsv").write_text("\n".join(rows))
    return PublishedData(format="mrpc", folder=str(tmp_path))


def test_classes_of_columns_are_sorted_and_scores_stay(csv):
    before = recipe(csv, Classification(dropout=0.2))
    found = with_labels(before)
    assert found.task == Classification(
        labels=("bad", "fair", "good"), dropout=0.2, class_shares=found.task.class_shares
    )
    assert found.model_copy(update={"task": before.task}) == before
    assert with_labels(found) is found


def test_classes_and_scores_of_a_published_format(mrpc):
    found = with_labels(recipe(mrpc, Classification(pair=True)))
    shares = (0.5, 0.5)
    assert found.task == Classification(
        pair=True, labels=("0", "1"), scores=("f1", "accuracy"), class_shares=shares
    )
    assert with_labels(found) is found


def test_what_the_recipe_states_stays(csv, mrpc):
    stated = Classification(pair=True, labels=("1", "0"), scores=("accuracy",))
    assert with_labels(recipe(mrpc, stated)).task == stated
    labels = ("good", "bad", "fair")
    assert with_labels(recipe(csv, Classification(labels=labels))).task.labels == labels


def test_answers_start_from_the_mean_of_the_labels_to_train_on(tmp_path, csv):
    (tmp_path / "train.csv").write_text("text,label\na,1\nb,2\nc,4.5\n")
    (tmp_path / "eval.csv").write_text("text,label\nd,100\n")
    data = csv.model_copy(update={"eval": str(tmp_path / "eval.csv")})
    assert with_labels(recipe(data, Regression(dropout=0.2))).task == Regression(dropout=0.2, mean=2.5)
    stated = recipe(data, Regression(mean=0.0))
    assert with_labels(stated) is stated


def test_classes_start_from_their_shares_among_the_labels_to_train_on(tmp_path, csv):
    (tmp_path / "train.csv").write_text("text,label\na,good\nb,good\nc,good\nd,bad\n")
    (tmp_path / "eval.csv").write_text("text,label\nd,bad\n")
    data = csv.model_copy(update={"eval": str(tmp_path / "eval.csv")})
    # Each class is counted once more, so that one that does not occur has a share too.
    found = with_labels(recipe(data, Classification())).task
    assert (found.labels, found.class_shares) == (("bad", "good"), (0.333333, 0.666667))
    stated = Classification(labels=("bad", "good", "fair"))
    assert with_labels(recipe(data, stated)).task.class_shares is None
    read, _ = read_for(recipe(data, stated))
    assert read.task.class_shares == (0.285714, 0.571429, 0.142857)
    even = recipe(data, Classification(labels=("bad", "good"), class_shares=()))
    assert with_labels(even) is even


def test_a_task_without_classes_stays(csv):
    before = recipe(csv, SpanAnswering())
    assert with_labels(before) is before


def test_a_csv_of_one_class_is_refused(tmp_path, csv):
    (tmp_path / "train.csv").write_text("text,label\na,good\nb,good\n")
    with pytest.raises(RefusedFileError, match=r"2 records .*label 'good'"):
        with_labels(recipe(csv, Classification()))


@pytest.mark.parametrize("name", FORMATS)
def test_the_class_that_f1_is_of_is_the_last(name):
    """A task that names no class takes the last one."""
    labels = FORMATS[name].labels
    assert getattr(labels, "positive", None) in (None, (labels.names or (None,))[-1])


@pytest.mark.parametrize(
    ("name", "wnut_like"),
    [("conll2000", True), ("conll2003", True), ("wnut17", True), ("ud_english_ewt", False)],
)
def test_formats_of_tagged_words_are_tagging(tmp_path, name, wnut_like):
    """With their tags in the order of the format, and the score that is published."""
    described = FORMATS[name]
    assert task_of_format(name) == {"kind": "tagging"}
    rows = [["_"] * described.columns for _ in range(2)]
    for number, cells in enumerate(rows):
        cells[0], cells[described.word] = "1", "word"
        cells[described.tag] = described.labels.names[number]
    lines = "\n".join(described.separator.join(cells) for cells in rows)
    (tmp_path / described.files["train"][0]).write_text(lines + "\n")
    data = PublishedData(format=name, folder=str(tmp_path))
    found = with_labels(recipe(data, Tagging(**task_of_format(name)))).task
    assert found.labels == described.labels.names
    assert found.scores == (("entity_f1",) if wnut_like else ("tag_accuracy",))


def test_tags_of_columns_begin_with_outside(tmp_path):
    (tmp_path / "train.jsonl").write_text(
        '{"words": ["a", "b"], "label": ["B-X", "O"]}\n{"words": ["a"], "label": ["B-A"]}\n'
    )
    data = ColumnData(train=str(tmp_path / "train.jsonl"), texts={"words": "words"})
    found = with_labels(recipe(data, Tagging(dropout=0.0))).task
    assert (found.labels, found.scores) == (("O", "B-A", "B-X"), ("entity_f1",))


@pytest.mark.parametrize(
    ("target", "tokenizer"), [("The dog ran.", "13a"), ("狗跑了。", "zh"), ("หมาวิ่ง", "char")]
)
def test_bleu_has_the_tokenizer_that_fits_the_targets(tmp_path, target, tokenizer):
    (tmp_path / "train.csv").write_text("text,label\n" + "".join(f"{n},{target} {n}\n" for n in "abc"))
    data = ColumnData(train=str(tmp_path / "train.csv"))
    model = load_recipe("t5_tiny").model
    before = recipe(data, TextToText(scores=("bleu",)), model)
    found = with_labels(before).task
    assert found == TextToText(scores=("bleu",), bleu_tokenizer=tokenizer)
    assert found.score_options("bleu") == {"tokenize": tokenizer}
    assert with_labels(recipe(data, TextToText(), model)).task == TextToText()
    stated = TextToText(scores=("rouge_l", "bleu"), bleu_tokenizer="intl")
    assert with_labels(recipe(data, stated, model)).task == stated


def test_a_tokenizer_of_bleu_that_is_unknown_or_not_there_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"bleu_tokenizer.*zh"):
        TextToText(bleu_tokenizer="zg")
    (tmp_path / "train.csv").write_text("text,label\na,b\nb,c\n")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    task = TextToText(scores=("bleu",), bleu_tokenizer="ja-mecab")
    with pytest.raises(ValueError, match=r"task\.bleu_tokenizer: .*'ja-mecab'.*MeCab.*char"):
        with_labels(recipe(ColumnData(train=str(tmp_path / "train.csv")), task, load_recipe("t5_tiny").model))


def test_the_tokenizers_of_the_key_are_those_of_the_score():
    assert get_args(BleuTokenizer) == ("", *TOKENIZERS)
