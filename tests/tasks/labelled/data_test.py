"""Labelled data of a recipe: splits, rejections and the report."""

import json

import pytest

from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.data import ColumnData, PublishedData
from firth.recipes.tasks.embedding import SentenceEmbedding
from firth.tasks.labelled.data import fingerprint, published_scores, read_labelled_data, read_to_train
from firth.tasks.labelled.data_readers import LABELLED_DATA
from firth.tasks.readers import LABELS, RefusedFileError
from tests.tasks.labelled.files import write

SENTIMENT = Classification(labels=("bad", "good"))


def reviews(folder, count=40):
    """A csv of different texts, of which every fourth is good."""
    rows = [f"film {number},{'good' if number % 4 == 0 else 'bad'}" for number in range(count)]
    return write(folder, "train.csv", "text,label", *rows)


def read(folder, *rows, task=SENTIMENT, header="text,label", evaluated=("x,bad", "y,good")):
    """Reads a csv to train on and one to evaluate on."""
    train = write(folder, "train.csv", header, *rows)
    evaluation = write(folder, "eval.csv", "text,label", *evaluated)
    return read_labelled_data(ColumnData(train=train, eval=evaluation), task)


def texts(split):
    return [record.texts["text"] for record in split.records]


def test_the_table_has_each_kind_of_data_and_each_type_of_label():
    of_recipe = configs_in(AdaptingRecipe.model_fields["data"].annotation)
    assert set(LABELLED_DATA) == {kind for config in of_recipe for kind in kinds_of(config)}
    tasks = configs_in(AdaptingRecipe.model_fields["task"].annotation)
    assert {task.label_type for task in tasks} <= set(LABELS)


def test_a_file_to_train_on_and_one_to_evaluate_on(tmp_path):
    found = read(tmp_path, "a film,good", "a bore,bad")
    assert texts(found.splits["train"]) == ["a film", "a bore"] and texts(found.splits["eval"]) == ["x", "y"]
    assert (found.source, found.labels, found.held_out) == ("train", ("bad", "good"), False)


def test_a_part_is_held_out_by_texts(tmp_path):
    data = ColumnData(train=reviews(tmp_path), eval_fraction=0.25)
    found = read_labelled_data(data, Classification())
    train, held = (set(texts(split)) for split in found.splits.values())
    assert found.held_out and found.labels == ("bad", "good")
    assert not train & held and len(train | held) == 40 and 4 <= len(held) <= 16
    # A record stays on its side, whatever the order and the other records.
    lines = (tmp_path / "train.csv").read_text().splitlines()
    write(tmp_path, "train.csv", lines[0], *reversed(lines[1:]), "another film,bad", "film 0,bad")
    again = read_labelled_data(data, Classification())
    assert set(texts(again.splits["eval"])) - {"another film"} == held
    sides = [name for name, split in again.splits.items() if "film 0" in texts(split)]
    assert len(sides) == 1 and texts(again.splits[sides[0]]).count("film 0") == 2
    assert again.report()["in_both_splits"]["records"] == 0


def test_at_least_one_text_is_on_each_side(tmp_path):
    found = read_labelled_data(ColumnData(train=reviews(tmp_path), eval_fraction=0.001), SENTIMENT)
    assert len(found.splits["eval"].records) == 1
    with pytest.raises(RefusedFileError, match=r"1 .*39"):
        read_labelled_data(ColumnData(train=reviews(tmp_path), eval_fraction=0.999), SENTIMENT)


def test_nothing_can_be_held_out_of_one_text(tmp_path):
    path = write(tmp_path, "a.csv", "text,label", "same,good", "same,bad")
    with pytest.raises(RefusedFileError, match=r"data\.eval"):
        read_labelled_data(ColumnData(train=path), SENTIMENT)


def test_what_cannot_be_read_is_counted_with_file_and_line(tmp_path):
    rows = ["a film,good", "a bore,bad", "odd,godo", ",good", "no label,", "one,two,three", "  ,bad"]
    report = read(tmp_path, *rows, evaluated=("x,bad", "y,good", "z,better")).report()
    train = report["splits"]["train"]
    assert (train["read"], train["kept"]) == (7, 2)
    assert train["rejected"] == {"unknown_label": 1, "empty_text": 2, "no_label": 1, "wrong_columns": 1}
    first = train["first_rejected"][0]
    assert first == f"{tmp_path}/train.csv:4: unknown_label: unknown label 'godo'; did you mean good?"
    assert report["splits"]["eval"]["rejected"] == {"unknown_label": 1}
    assert json.loads(json.dumps(report)) == report


def test_ten_rejections_are_told_in_full(tmp_path):
    rows = ["a film,good", "a bore,bad", *["odd,godo"] * 12, ",good"]
    train = read(tmp_path, *rows).report()["splits"]["train"]
    assert train["rejected"] == {"unknown_label": 12, "empty_text": 1} and len(train["first_rejected"]) == 10
    first, rare = (each.split(": ")[:2] for each in train["first_rejected"][:2])
    assert first == [f"{tmp_path}/train.csv:4", "unknown_label"], "the first of each reason comes first"
    assert rare == [f"{tmp_path}/train.csv:16", "empty_text"]


def test_labels_that_hardly_recur_are_no_classes(tmp_path):
    """Numbers given to classification, and a column of texts; the same as classes that the task states."""
    numbers = [f"film {number},{number / 7:.3f}" for number in range(30)]
    problem = r"train\.csv: data\.label: 30 records have 30 labels, such as .*; regression learns numbers"
    with pytest.raises(RefusedFileError, match=problem):
        read(tmp_path, *numbers, task=Classification())
    with pytest.raises(RefusedFileError, match=r"60 .*30 .*'0\.000'.*regression"):
        read(tmp_path, *numbers, *numbers, task=Classification())
    with pytest.raises(RefusedFileError, match=r"data\.label: 30 .*30 .*classes$"):
        read(tmp_path, *(f"film {number},film {number}" for number in range(30)), task=Classification())
    stars = [f"film {number},{number % 21}" for number in range(42)]
    assert len(read(tmp_path, *stars, task=Classification(), evaluated=("x,3",)).labels) == 21


def test_a_label_is_not_a_column_of_texts(tmp_path):
    with pytest.raises(RefusedFileError, match=r"data\.label: 'text' .*data\.texts"):
        read_labelled_data(ColumnData(train=reviews(tmp_path), label="text"), SENTIMENT)


def test_a_label_of_eval_alone_is_outside_the_set(tmp_path):
    """Without labels in the task, those of the training records are the set."""
    found = read(
        tmp_path, "a film,good", "a bore,bad", task=Classification(), evaluated=("x,bad", "y,perfect")
    )
    assert found.labels == ("bad", "good") and texts(found.splits["eval"]) == ["x"]
    assert found.report()["splits"]["eval"]["rejected"] == {"unknown_label": 1}


def test_labels_are_counted_and_those_that_are_missing_are_seen(tmp_path):
    task = Classification(labels=("good", "bad", "fair"))
    train = read(tmp_path, "a,good", "b,bad", "c,good", task=task).report()["splits"]["train"]
    assert train["labels"] == {"good": 2, "bad": 1, "fair": 0} and train["different_labels"] == 2


def test_the_same_text_is_counted_and_kept(tmp_path):
    rows = ["a film,good", "a film,good", "a film,bad", "a bore,bad", "x,good"]
    found = read(tmp_path, *rows, evaluated=("x,bad", "y,good", "a bore,bad"))
    report = found.report()
    assert report["splits"]["train"]["kept"] == 5 and report["splits"]["eval"]["kept"] == 3
    duplicates = report["splits"]["train"]["duplicates"]
    assert duplicates == {"records": 2, "texts_with_several_labels": 1}
    assert report["in_both_splits"] == {"records": 2, "with_another_label": 1}


def test_ids_that_occur_twice_are_rejected(tmp_path):
    path = write(tmp_path, "a.csv", "id,text,label", "1,a,good", "2,b,bad", "1,c,bad")
    found = read_labelled_data(ColumnData(train=path, eval=path, id="id"), SENTIMENT)
    assert [record.id for record in found.splits["train"].records] == ["1", "2"]
    assert found.report()["splits"]["train"]["rejected"] == {"duplicate_id": 1}


@pytest.mark.parametrize("task", [Classification(), SENTIMENT, Regression()])
def test_a_csv_of_one_label_is_refused(tmp_path, task):
    label = "1" if task == Regression() else "good"
    with pytest.raises(RefusedFileError, match=r"train\.csv: .*3 .*label"):
        read(tmp_path, f"a,{label}", f"b,{label}", f"c,{label}", task=task, evaluated=(f"x,{label}",))


def test_a_csv_of_other_labels_is_refused(tmp_path):
    with pytest.raises(RefusedFileError, match=r"2 .*:2: .*'1'.*bad, good"):
        read(tmp_path, "a,1", "b,0")


def test_a_missing_column_is_named_with_the_nearest(tmp_path):
    with pytest.raises(RefusedFileError, match=r"'label'.*line 1.*\bLabel\b"):
        read(tmp_path, "a,good", "b,bad", header="text,Label")


def test_a_missing_file_is_named_with_the_nearest(tmp_path):
    reviews(tmp_path)
    for data in (
        ColumnData(train=f"{tmp_path}/trian.csv"),
        ColumnData(train=f"{tmp_path}/train.csv", eval=f"{tmp_path}/trian.csv"),
    ):
        for call in (lambda data: read_labelled_data(data, SENTIMENT), fingerprint):
            with pytest.raises(RefusedFileError, match=r"trian\.csv: .*n\."):
                call(data)
    with pytest.raises(RefusedFileError, match="folder"):
        fingerprint(ColumnData(train=str(tmp_path)))
    with pytest.raises(RefusedFileError, match=r"train\.tsv .*GLUE SST-2.*train\.csv"):
        fingerprint(PublishedData(format="sst2", folder=str(tmp_path)))


def test_texts_that_the_task_does_not_read_are_named(tmp_path):
    path = reviews(tmp_path)
    pair = Classification(pair=True)
    with pytest.raises(RefusedFileError, match=r"data\.texts: 'par' .*pair\?"):
        read_labelled_data(ColumnData(train=path, texts={"text": "text", "par": "text"}), pair)
    with pytest.raises(RefusedFileError, match=r"data\.texts: .*'pair'"):
        read_labelled_data(ColumnData(train=path), pair)


def test_the_fingerprint_follows_the_content(tmp_path):
    data = ColumnData(train=reviews(tmp_path))
    before = fingerprint(data)
    (tmp_path / "train.csv").touch()
    assert fingerprint(data) == before != fingerprint(data.model_copy(update={"eval_fraction": 0.2}))
    reviews(tmp_path, 41)
    assert fingerprint(data) != before


PAIRED = {"text": "a", "pair": "b"}


def pairs(folder, *rows, header="a,b,how", **more):
    return ColumnData(train=write(folder, "pairs.csv", header, *rows), texts=PAIRED, **more)


def test_pairs_of_texts_need_no_labels(tmp_path):
    rows = [f"one {number},two {number}" for number in range(20)]
    data = pairs(tmp_path, *rows, header="a,b", label=None)
    found = read_labelled_data(data, SentenceEmbedding())
    assert {record.label for split in found.splits.values() for record in split.records} == {1.0}
    with pytest.raises(RefusedFileError, match=r"data\.label: .*column"):
        read_labelled_data(data, Regression(pair=True))


def test_pairs_may_have_numbers_to_evaluate_on_alone(tmp_path):
    evaluation = write(tmp_path, "sts.csv", "a,b,score", "x,y,1.5", "z,w,4.5")
    data = pairs(tmp_path, "p,q", "r,s", header="a,b", eval=evaluation, label=None, eval_label="score")
    found = read_labelled_data(data, SentenceEmbedding(positive_from=4.0))
    labels = {name: [each.label for each in split.records] for name, split in found.splits.items()}
    assert labels == {"train": [4.0, 4.0], "eval": [1.5, 4.5]}


@pytest.mark.parametrize(("label", "least", "problem"), [
    ("how", None, "say from which number on two texts belong together"),
    (None, 4.0, "the data have no labels; name their column in data.label"),
    ("how", 9.0, "no number to train on is 9.0 or above"),
])  # fmt: skip
def test_numbers_and_what_they_mean_go_together(tmp_path, label, least, problem):
    data = pairs(tmp_path, "p,q,1", "r,s,5", "t,u,4", label=label)
    with pytest.raises(RefusedFileError, match=problem):
        read_labelled_data(data, SentenceEmbedding(positive_from=least))


def test_classes_and_scores_of_the_data(tmp_path):
    data = PublishedData(format="rte", folder=str(tmp_path))
    for name in ("train.tsv", "dev.tsv"):
        rows = [f"{n}\ta{n}\tb\t{label}" for n, label in enumerate(("entailment", "not_entailment"))]
        write(tmp_path, name, "index\tsentence1\tsentence2\tlabel", *rows)
    assert read_to_train(data, Classification(pair=True)).labels == ("not_entailment", "entailment")
    assert published_scores(PublishedData(format="mrpc", folder="/glue")) == ("f1", "accuracy")
    data = ColumnData(train=reviews(tmp_path))
    assert (read_to_train(data, Classification()).labels, published_scores(data)) == (("bad", "good"), ())
