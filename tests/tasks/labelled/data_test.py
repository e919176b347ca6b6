"""Labelled data of a recipe: splits, rejections and the report."""

import json
from typing import ClassVar, Literal

import pytest

from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.data import ColumnData, PublishedData
from firth.recipes.tasks.embedding import SentenceEmbedding
from firth.recipes.tasks.span import SpanAnswering
from firth.recipes.tasks.tagging import Tagging
from firth.recipes.tasks.task import Task
from firth.tasks.labelled.data import class_names, fingerprint, published_scores, read_labelled_data
from firth.tasks.labelled.data_readers import LABELLED_DATA
from firth.tasks.readers import LABELS, AnswerSpan, RefusedFileError
from tests.shared_data import shared_data

SENTIMENT = Classification(labels=("bad", "good"))


def write(folder, name, *rows):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{row}\n" for row in rows))
    return str(path)


def reviews(folder, count=40):
    """A csv of different texts, of which every fourth is good."""
    rows = [f"film {number},{'good' if number % 4 == 0 else 'bad'}" for number in range(count)]
    return write(folder, "train.csv", "text,label", *rows)


def read(folder, *rows, task=SENTIMENT, header="text,label", evaluated=("x,bad", "y,good")):
    """What is read of a csv to train on and one to evaluate on."""
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
    with pytest.raises(RefusedFileError, match=r"all 1 records to train on .* after 39 were held out"):
        read_labelled_data(ColumnData(train=reviews(tmp_path), eval_fraction=0.999), SENTIMENT)


def test_nothing_can_be_held_out_of_one_text(tmp_path):
    path = write(tmp_path, "a.csv", "text,label", "same,good", "same,bad")
    with pytest.raises(RefusedFileError, match=r"all texts are the same.*name data\.eval"):
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
    with pytest.raises(RefusedFileError, match=r"60 records have 30 labels, such as '0\.000'.*regression"):
        read(tmp_path, *numbers, *numbers, task=Classification())
    with pytest.raises(RefusedFileError, match=r"data\.label: 30 records have 30 labels, .*: no classes$"):
        read(tmp_path, *(f"film {number},film {number}" for number in range(30)), task=Classification())
    stars = [f"film {number},{number % 21}" for number in range(42)]
    assert len(read(tmp_path, *stars, task=Classification(), evaluated=("x,3",)).labels) == 21


def test_a_label_is_not_a_column_of_texts(tmp_path):
    with pytest.raises(RefusedFileError, match=r"data\.label: 'text' is a column of data\.texts too"):
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
    with pytest.raises(RefusedFileError, match=r"train\.csv: all 3 records to train on have the label"):
        read(tmp_path, f"a,{label}", f"b,{label}", f"c,{label}", task=task, evaluated=(f"x,{label}",))


def test_a_csv_of_other_labels_is_refused(tmp_path):
    with pytest.raises(RefusedFileError, match=r"none of 2 .*line 2: unknown label '1'; one of: bad, good"):
        read(tmp_path, "a,1", "b,0")


def test_a_missing_column_is_named_with_the_nearest(tmp_path):
    with pytest.raises(RefusedFileError, match="there is no column 'label' in line 1; did you mean Label"):
        read(tmp_path, "a,good", "b,bad", header="text,Label")


def test_a_missing_file_is_named_with_the_nearest(tmp_path):
    reviews(tmp_path)
    for data in (
        ColumnData(train=f"{tmp_path}/trian.csv"),
        ColumnData(train=f"{tmp_path}/train.csv", eval=f"{tmp_path}/trian.csv"),
    ):
        for call in (lambda data: read_labelled_data(data, SENTIMENT), fingerprint):
            with pytest.raises(RefusedFileError, match=r"trian\.csv: there is no .*did you mean .*n\."):
                call(data)
    with pytest.raises(RefusedFileError, match="this is a folder"):
        fingerprint(ColumnData(train=str(tmp_path)))
    with pytest.raises(RefusedFileError, match=r"there is no train\.tsv of GLUE SST-2; there is train\.csv"):
        fingerprint(PublishedData(format="sst2", folder=str(tmp_path)))


def test_texts_that_the_task_does_not_read_are_named(tmp_path):
    path = reviews(tmp_path)
    pair = Classification(pair=True)
    with pytest.raises(RefusedFileError, match=r"data\.texts: 'par' is not a text .*did you mean pair\?"):
        read_labelled_data(ColumnData(train=path, texts={"text": "text", "par": "text"}), pair)
    with pytest.raises(RefusedFileError, match=r"data\.texts: there is no column for 'pair'"):
        read_labelled_data(ColumnData(train=path), pair)


def test_the_fingerprint_follows_the_content(tmp_path):
    data = ColumnData(train=reviews(tmp_path))
    before = fingerprint(data)
    (tmp_path / "train.csv").touch()
    assert fingerprint(data) == before != fingerprint(data.model_copy(update={"eval_fraction": 0.2}))
    reviews(tmp_path, 41)
    assert fingerprint(data) != before


class _Task(Task):
    """A task by the type of its labels and the roles of its texts."""

    reads: ClassVar[tuple[str, ...]] = ()

    @property
    def roles(self):
        return self.reads


class Choosing(_Task):
    label_type: ClassVar[str] = "choice"
    reads: ClassVar[tuple[str, ...]] = ("context", "choices")

    kind: Literal["choosing"] = "choosing"


class Writing(_Task):
    label_type: ClassVar[str] = "text"
    reads: ClassVar[tuple[str, ...]] = ("text",)

    kind: Literal["writing"] = "writing"


ROWS = {
    Choosing: ({"context": "It rained.", "choices": ["She stayed.", "She left."], "label": 1}, 1),
    Tagging: ({"words": ["EU", "rejects"], "label": ["B-ORG", "O"]}, ("B-ORG", "O")),
    SpanAnswering: (
        {"question": "When?", "context": "In 1066.", "label": [{"text": "1066", "answer_start": 3}]},
        (AnswerSpan("1066", 3),),
    ),
    Writing: ({"text": "A long body.", "label": "A summary."}, "A summary."),
}


@pytest.mark.parametrize("kind", ROWS)
def test_columns_of_each_role_and_label(tmp_path, kind):
    row, label = ROWS[kind]
    roles = kind().roles
    other = row | {"label": {Writing: "Another."}.get(kind, row["label"])}
    bad = row | {"label": None}
    path = write(tmp_path, "a.jsonl", *map(json.dumps, (row, other, bad)))
    data = ColumnData(train=path, eval=path, texts={role: role for role in roles})
    found = read_labelled_data(data, kind())
    record = found.splits["train"].records[0]
    assert record.label == label and set(record.texts) == set(roles)
    assert len(found.splits["train"].records) == 2
    assert found.splits["train"].rejected[0].line == 3
    assert found.labels == (("O", "B-ORG") if kind is Tagging else ())
    assert found.report()["splits"]["train"]["kept"] == 2


def test_answers_as_two_lists(tmp_path):
    row = ROWS[SpanAnswering][0] | {"label": {"text": ["1066"], "answer_start": [3]}}
    wrong = [{"text": ["1066"], "answer_start": []}, {"text": ["1066"], "answer_start": [2]}, 1066]
    rows = [row, *(row | {"label": each} for each in wrong), row | {"label": []}]
    path = write(tmp_path, "a.jsonl", *map(json.dumps, rows))
    data = ColumnData(train=path, eval=path, texts={"question": "question", "context": "context"})
    train = read_labelled_data(data, SpanAnswering(unanswerable=True)).splits["train"]
    assert [record.label for record in train.records] == [(AnswerSpan("1066", 3),), ()]
    assert [each.reason for each in train.rejected] == ["missing_key", "answer_not_at_offset", "no_label"]


def test_answers_in_the_cells_of_a_table(tmp_path):
    """A text has to be there once; JSON says its place; what is neither is counted."""
    place = '[{""text"": ""In"", ""answer_start"": 0}]'
    cells = ["1066", f'"{place}"', "1067", "e", "[]", ""]
    rows = [f"When?,In 1066 there were none.,{each}" for each in cells]
    path = write(tmp_path, "a.csv", "question,context,label", *rows)
    data = ColumnData(train=path, eval=path, texts={"question": "question", "context": "context"})
    train = read_labelled_data(data, SpanAnswering()).splits["train"]
    assert [record.label for record in train.records] == [(AnswerSpan("1066", 3),), (AnswerSpan("In", 0),)]
    assert [(each.line, each.reason) for each in train.rejected] == [
        (4, "answer_not_in_context"),
        (5, "answer_in_several_places"),
        (6, "no_label"),
        (7, "no_label"),
    ]
    assert "task.unanswerable is false" in train.rejected[2].detail


def test_questions_without_an_answer_have_to_be_wanted(tmp_path):
    made = {"version": "2", "data": [{"title": "T", "paragraphs": [{"context": "In 1066.", "qas": []}]}]}
    asked = made["data"][0]["paragraphs"][0]["qas"]
    asked += [
        {"id": "a", "question": "When?", "answers": [{"text": "1066", "answer_start": 3}]},
        {"id": "b", "question": "Who?", "answers": [], "is_impossible": True},
    ]
    for name in ("train-v2.0.json", "dev-v2.0.json"):
        (tmp_path / name).write_text(json.dumps(made))
    data = PublishedData(format="squad2", folder=str(tmp_path))
    of_all = read_labelled_data(data, SpanAnswering(unanswerable=True)).report()["splits"]["train"]
    assert of_all["labels"] == {"answer": 1, "no answer": 1}
    train = read_labelled_data(data, SpanAnswering()).splits["train"]
    assert [each.line for each in train.rejected] == [2] and len(train.records) == 1


def test_tags_outside_the_set_are_rejected(tmp_path):
    rows = [{"words": ["a", "b"], "label": tags} for tags in (["O", "B-X"], ["O", "B-Y"], ["O"])]
    path = write(tmp_path, "a.jsonl", *map(json.dumps, rows))
    data = ColumnData(train=path, eval=path, texts={"words": "words"})
    train = read_labelled_data(data, Tagging(labels=("O", "B-X"))).report()["splits"]["train"]
    assert train["rejected"] == {"unknown_label": 1, "unequal_words_and_tags": 1}
    assert train["labels"] == {"O": 1, "B-X": 1}


def sst2(folder, **values):
    """A folder of SST-2 as it is published, small."""
    header = "sentence\tlabel"
    write(folder, "train.tsv", header, "a film\t1", "a bore\t0", "odd\t2")
    write(folder, "dev.tsv", header, "a bore\t0", "fine\t1")
    write(folder, "test.tsv", "index\tsentence", "0\tunknown")
    return PublishedData(format="sst2", folder=str(folder), **values)


def test_a_part_of_a_published_format_is_held_out_where_it_has_no_other_split(tmp_path):
    held = sst2(tmp_path, eval=None)
    rows = [f"film {number}\t{number % 2}" for number in range(20)]
    write(tmp_path, "train.tsv", "sentence\tlabel", *rows)
    found = read_labelled_data(held, Classification())
    assert found.held_out and sum(len(split.records) for split in found.splits.values()) == 20
    assert fingerprint(held) != fingerprint(sst2(tmp_path))
    (tmp_path / "dev.tsv").unlink()
    assert fingerprint(held)


def test_a_published_format(tmp_path):
    found = read_labelled_data(sst2(tmp_path), Classification())
    assert (found.source, found.labels, found.held_out) == ("sst2", ("0", "1"), False)
    report = found.report()
    assert report["splits"]["train"]["rejected"] == {"unknown_label": 1}
    assert report["splits"]["eval"]["file"].endswith("dev.tsv")
    assert report["in_both_splits"]["records"] == 1


@pytest.mark.parametrize("split", ["train", "eval"])
def test_a_split_without_labels_is_never_scored(tmp_path, split):
    with pytest.raises(RefusedFileError, match=rf"data\.{split}: the split 'test' of .* has no labels"):
        read_labelled_data(sst2(tmp_path, **{split: "test"}), Classification())


def test_a_published_format_of_another_task_is_refused(tmp_path):
    data = sst2(tmp_path)
    with pytest.raises(RefusedFileError, match=r"a label of GLUE SST-2 is of the type class.*type number"):
        read_labelled_data(data, Regression())
    with pytest.raises(RefusedFileError, match=r"GLUE SST-2 has the texts text; .* reads text, pair"):
        read_labelled_data(data, Classification(pair=True))


def test_a_published_format_has_the_tasks_roles(tmp_path):
    """BoolQ's question and passage are the two texts of a pair."""
    rows = [{"question": "is it", "passage": "It is.", "label": each, "idx": each} for each in (False, True)]
    for name in ("train.jsonl", "val.jsonl"):
        write(tmp_path, name, *map(json.dumps, rows))
    found = read_labelled_data(PublishedData(format="boolq", folder=str(tmp_path)), Classification(pair=True))
    assert found.splits["train"].records[0].texts == {"text": "is it", "pair": "It is."}
    assert found.labels == ("false", "true")


def test_classes_and_scores_of_the_data(tmp_path):
    data = PublishedData(format="rte", folder=str(tmp_path))
    for name in ("train.tsv", "dev.tsv"):
        rows = [f"{n}\ta{n}\tb\t{label}" for n, label in enumerate(("entailment", "not_entailment"))]
        write(tmp_path, name, "index\tsentence1\tsentence2\tlabel", *rows)
    assert class_names(data, Classification(pair=True)) == ("not_entailment", "entailment")
    assert published_scores(PublishedData(format="mrpc", folder="/glue")) == ("f1", "accuracy")
    data = ColumnData(train=reviews(tmp_path))
    assert (class_names(data, Classification()), published_scores(data)) == (("bad", "good"), ())


# Records, as tests/tasks/readers/readers_real_files_test.py has them, and records that are in both splits.
@pytest.mark.needs_data("glue", twin="test_a_published_format")
@pytest.mark.parametrize(
    ("name", "task", "kept"),
    [
        ("cola", Classification(), (8551, 1043)),
        ("rte", Classification(pair=True), (2490, 277)),
        ("stsb", Regression(pair=True), (5749, 1500)),
        ("wnli", Classification(pair=True), (635, 71)),
    ],
)
def test_glue(name, task, kept):
    found = read_labelled_data(PublishedData(format=name, folder=str(shared_data("glue"))), task)
    report = found.report()
    assert tuple(each["kept"] for each in report["splits"].values()) == kept
    assert all(each["rejected"] == {} for each in report["splits"].values())
    for each in report["splits"].values():
        assert not found.labels or sum(each["labels"].values()) == each["kept"]


@pytest.mark.needs_data("conll2000", twin="test_tags_outside_the_set_are_rejected")
def test_tagged_words():
    data = PublishedData(format="conll2000", folder=str(shared_data("conll2000")), eval="test")
    found = read_labelled_data(data, Tagging())
    report = found.report()["splits"]
    assert (report["train"]["kept"], report["eval"]["kept"]) == (8936, 2012) and len(found.labels) == 23
    assert sum(report["train"]["labels"].values()) == 211727


@pytest.mark.needs_data("glue", twin="test_a_split_without_labels_is_never_scored")
def test_test_data_of_glue_are_never_scored():
    data = PublishedData(format="sst2", folder=str(shared_data("glue")), eval="test")
    with pytest.raises(RefusedFileError, match="has no labels"):
        read_labelled_data(data, Classification())


PAIRED = {"text": "a", "pair": "b"}


def pairs(folder, *rows, header="a,b,how", **more):
    return ColumnData(train=write(folder, "pairs.csv", header, *rows), texts=PAIRED, **more)


def test_pairs_of_texts_need_no_labels(tmp_path):
    rows = [f"one {number},two {number}" for number in range(20)]
    data = pairs(tmp_path, *rows, header="a,b", label=None)
    found = read_labelled_data(data, SentenceEmbedding())
    assert {record.label for split in found.splits.values() for record in split.records} == {1.0}
    with pytest.raises(RefusedFileError, match=r"data\.label: name the column of labels"):
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
