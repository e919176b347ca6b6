"""Files of records answered by a served model."""

import json
import os

import pytest
import tensorflow as tf

from firth.recipes.tasks.classification import Classification
from firth.recipes.tasks.dialogue import Dialogue
from firth.recipes.tasks.tagging import Tagging
from firth.recipes.tasks.tasks import TextTasks
from firth.recipes.tasks.text_to_text import LabelWords, TextToText, WrittenNumber
from firth.serving import Client
from firth.serving.batch import prediction as predicting
from firth.serving.batch.prediction import predict_file, read_requests
from firth.serving.batch.texts import Unread
from firth.tasks.readers.records import RefusedFileError


class _Longer(tf.Module):
    """Answers which of two texts is longer; fails on the text 'broken'."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name=name) for name in ("text", "pair")])
    def longer(self, text, pair):
        tf.debugging.assert_none_equal(text, "broken")
        return {"label": tf.where(tf.strings.length(text) > tf.strings.length(pair), "text", "pair")}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    stub = _Longer()
    tf.saved_model.save(stub, str(folder), {"longer": stub.longer})
    (folder / "assets.extra").mkdir()
    described = {
        "recipe": {"data": {"texts": {"text": "first"}}},
        "signatures": {"longer": {"answer": {"outputs": {"label": "which"}}}},
        "other_signatures": {},
        "evaluation_sums": [],
    }
    (folder / "assets.extra" / "firth.json").write_text(json.dumps(described))
    return Client(folder)


def rows(count):
    return [{"first": "x" * (number % 5), "b": "xx"} for number in range(count)]


def write(path, values):
    path.write_text("".join(json.dumps(each) + "\n" for each in values))
    return path


def test_answers_stand_in_the_order_of_what_could_be_read(client, tmp_path, monkeypatch):
    monkeypatch.setattr(predicting, "BATCH", 7)
    asked, sizes = client.ask, []
    monkeypatch.setattr(client, "ask", lambda *a, **b: sizes.append(len(a[1])) or asked(*a, **b))
    source, counts = write(tmp_path / "a.jsonl", rows(50)), []
    found = predict_file(client, "longer", source, tmp_path / "b.jsonl", {"pair": "b"}, counts.append)
    lines = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    expected = [number for number in range(50) if number % 5]
    assert [each["line"] for each in lines] == [number + 1 for number in expected]
    assert lines[3] == {"line": 5, "text": "xxxx", "pair": "xx", "which": "text"}
    assert found.answered == 40 and found.unread == {"empty_text": 10} and found.first_unread[0].line == 1
    assert sizes == [7, 7, 7, 7, 7, 5] and counts == [0, 7, 14, 21, 28, 35, 40]


def test_texts_of_like_lengths_share_a_batch(client, tmp_path, monkeypatch):
    monkeypatch.setattr(predicting, "BATCH", 4)
    monkeypatch.setattr(predicting, "SORTED_BATCHES", 2)
    # A part of the answers is written to the disk.
    monkeypatch.setattr(predicting, "_HELD_BYTES", 100)
    asked, lengths = client.ask, []
    monkeypatch.setattr(client, "ask", lambda *a, **b: lengths.append(list(map(len, a[1]))) or asked(*a, **b))
    given = [{"first": "x" * (1 + 7 * number % 10), "b": "xx"} for number in range(10)]
    predict_file(client, "longer", write(tmp_path / "a.jsonl", given), tmp_path / "b.jsonl", {"pair": "b"})
    # Only the records in memory are sorted: eight, then two.
    assert lengths == [[1, 2, 3, 5], [6, 8, 9, 10], [4, 7]]
    lines = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert [each["text"] for each in lines] == [each["first"] for each in given]
    assert all(each["which"] == ("text" if len(each["text"]) > 2 else "pair") for each in lines)


@pytest.mark.parametrize(("columns", "values", "problem"), [
    ({"pair": "b"}, [{"first": "a", "b": "c"}, {"first": "broken", "b": "c"}], "assertion failed"),
    ({"pair": "b"}, [{"first": "", "b": "c"}], "1 records .*line 1: 'first' is empty"),
    ({}, rows(5)[1:], "4 records .*line 1: .*'pair'"),
    ({"pear": "b"}, rows(3), "input 'pear'"),
])  # fmt: skip
def test_answers_are_written_whole_or_not_at_all(client, tmp_path, columns, values, problem):
    (tmp_path / "b.jsonl").write_text("before")
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=problem):
        predict_file(client, "longer", write(tmp_path / "a.jsonl", values), tmp_path / "b.jsonl", columns)
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "b.jsonl"]
    assert (tmp_path / "b.jsonl").read_text() == "before"


def test_places_that_cannot_hold_the_answers_are_refused(client, tmp_path):
    source = write(tmp_path / "a.jsonl", rows(2))
    with pytest.raises(RefusedFileError, match=r"a\.jsonl"):
        predict_file(client, "longer", source, source)
    with pytest.raises(RefusedFileError, match=r"ends in \.jsonl"):
        predict_file(client, "longer", source, tmp_path / "b.csv")
    with pytest.raises(ValueError, match=r"shorter; .*longer"):
        predict_file(client, "shorter", source, tmp_path / "b.jsonl")


TAGGING = {
    "recipe": {"task": json.loads(Tagging(labels=("O", "B-PER")).to_json()), "data": {"kind": "columns"}},
    "signatures": {
        "tag": {"inputs": {"text": {}}, "words_by": "tag_words"},
        "tag_words": {"inputs": {"words": {}}, "texts_by": "tag", "lists": {"words": " "}},
    },
}
CONLL = "U.S. NNP B-LOC\n10\u00a0000 CD O\n\nAda NNP B-PER\n"
WORDS = [("U.S.", "10\u00a0000"), ("Ada",)]


def asked(name, path, columns=None, described=TAGGING, quoted=None):
    unread = Unread()
    inputs = tuple(described["signatures"][name]["inputs"])
    found = read_requests(described, name, inputs, path, columns or {}, unread, quoted)
    return [each.texts for each in found], unread


def test_quotation_marks_of_a_tsv_are_those_of_the_training_data_unless_it_is_asked_otherwise(tmp_path):
    (tmp_path / "a.tsv").write_text('text\tid\n"a ""b"""\t1\n')
    classes = {"classify": {"inputs": {"text": {}}}}
    meant = {True: 'a "b"', False: '"a ""b"""'}
    for described in ({**TAGGING, "signatures": classes}, TAGGING):
        name = next(iter(described["signatures"]))
        with pytest.raises(RefusedFileError, match=r"a\.tsv: line 2.*--quoted.*predictions\.quoted"):
            asked(name, tmp_path / "a.tsv", described=described)
        for quoted, text in meant.items():
            data = {"kind": "columns", "quoted": quoted}
            trained = {**described, "recipe": {**described["recipe"], "data": data}}
            assert asked(name, tmp_path / "a.tsv", described=trained)[0] == [{"text": text}]
            other = asked(name, tmp_path / "a.tsv", described=trained, quoted=not quoted)[0]
            assert other == [{"text": meant[not quoted]}]


@pytest.mark.parametrize("name", ["tag", "tag_words"])
def test_words_are_read_of_files_that_have_them_and_texts_of_others(tmp_path, name):
    (tmp_path / "a.conll").write_text(CONLL)
    assert asked(name, tmp_path / "a.conll")[0] == [{"words": each} for each in WORDS]
    lines = [{"words": list(WORDS[0])}, {"text": "a U.S. b"}, {"words": "two words"}, {"other": 1}]
    found, unread = asked(name, write(tmp_path / "a.jsonl", lines))
    assert found == [{"words": WORDS[0]}, {"text": "a U.S. b"}, {"words": ("two", "words")}]
    assert unread.counts == {"missing_key": 1}
    (tmp_path / "a.txt").write_text("a U.S. b\n")
    assert asked(name, tmp_path / "a.txt")[0] == [{"text": "a U.S. b"}]
    both = write(tmp_path / "b.jsonl", [{"words": ["a"], "said": "b c"}])
    assert asked(name, both, {"text": "said"})[0] == [{"text": "b c"}]
    assert asked(name, both, {"words": "words"})[0] == [{"words": ("a",)}]
    with pytest.raises(ValueError, match="pair"):
        asked(name, both, {"pair": "said"})


def test_dialogues_are_asked_for_the_reply_to_their_last_turn(tmp_path):
    signatures = {
        "reply": {"inputs": {"text": {}}, "words_by": "reply_turns"},
        "reply_turns": {"inputs": {"messages": {}, "system": {}}, "lists": {"messages": " | "}},
    }
    task = json.loads(Dialogue().to_json())
    described = {"recipe": {"task": task, "data": {"texts": {"messages": "chat"}}}, "signatures": signatures}
    said = [
        ("system", "Be short."),
        ("user", "Hi"),
        ("assistant", "Hello"),
        ("user", "Bye"),
        ("assistant", "Ok"),
    ]
    turns = [{"role": who, "content": what} for who, what in said]
    lines = [{"chat": turns}, {"chat": turns[1:2]}, {"chat": "alone"}, {"chat": turns[2:3]}, {"chat": []}]
    found, unread = asked("reply", write(tmp_path / "a.jsonl", lines), described=described)
    assert found == [
        {"messages": ("Hi", "Hello", "Bye"), "system": "Be short."},
        {"messages": ("Hi",), "system": ""},
        {"messages": ("alone",), "system": ""},
    ]
    assert unread.counts == {"roles_out_of_order": 1, "empty_text": 1}
    inputs = {**signatures["reply_turns"], "optional": ["system"], "reads_replies": True}
    described["signatures"] = {"score_replies": inputs}
    found, unread = asked("score_replies", write(tmp_path / "b.jsonl", lines), described=described)
    assert found == [{"messages": ("Hi", "Hello", "Bye", "Ok"), "system": "Be short."}]
    assert unread.counts == {"roles_out_of_order": 3, "empty_text": 1}


SEVERAL = TextTasks(
    tasks={
        "cola": LabelWords(labels=("0", "1"), prefix="cola sentence: "),
        "pairs": WrittenNumber(pair=True, prefix="sts 1: ", pair_prefix="2: "),
        "news": TextToText(prefix="summarize: "),
    }
)
PARTS = [
    {"kind": "columns", "train": "cola.csv", "texts": {"text": "said"}},
    {"kind": "columns", "train": "pairs.csv", "texts": {"text": "one", "pair": "other"}},
    {"kind": "columns", "train": "news.csv"},
]


def several(task=SEVERAL):
    data = {"kind": "mixture", "parts": PARTS}
    signatures = {"generate": {"inputs": {"text": {}}}}
    return {"recipe": {"task": json.loads(task.to_json()), "data": data}, "signatures": signatures}


def prompts(path, columns=None, described=None, **more):
    unread, described = Unread(), described or several()
    inputs = tuple(described["signatures"]["generate"]["inputs"])
    found = read_requests(described, "generate", inputs, path, columns or {}, unread, **more)
    return [record.texts for record in found], unread


@pytest.mark.parametrize(
    ("source", "row", "columns", "expected"),
    [
        ("cola", {"said": "They sat."}, {}, "cola sentence: They sat."),
        ("cola", {"x": "They sat."}, {"text": "x"}, "cola sentence: They sat."),
        ("cola", {"said": "cola sentence: They sat."}, {}, "cola sentence: They sat."),
        ("pairs", {"one": "A", "other": "B"}, {}, "sts 1: A 2: B"),
        ("pairs", {"one": "A", "b": "B"}, {"pair": "b"}, "sts 1: A 2: B"),
        ("news", {"text": "Long."}, {}, "summarize: Long."),
        ("", {"text": "sts 1: A 2: B"}, {}, "sts 1: A 2: B"),
    ],
)
def test_texts_of_one_of_several_tasks_become_its_prompts(source, row, columns, expected, tmp_path):
    path = write(tmp_path / "a.jsonl", [row])
    found, unread = prompts(path, columns, data_source=source)
    assert (found, unread.counts.total()) == ([{"text": expected}], 0)


def test_a_text_without_a_task_is_rejected_with_the_prefixes(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"text": "They sat."}, {"text": "summarize: Long."}])
    found, unread = prompts(path)
    assert found == [{"text": "summarize: Long."}] and unread.counts == {"no_task": 1}
    listed = ("cola 'cola sentence: '", "pairs 'sts 1:  2: '", "news 'summarize: '", "--source")
    assert all(each in unread.first[0].detail for each in listed)
    with pytest.raises(ValueError, match=r"'cool'; did you mean cola\?.*summarize: "):
        prompts(path, data_source="cool")
    with pytest.raises(ValueError, match="pair"):
        prompts(path, {"pair": "b"}, data_source="cola")
    with pytest.raises(RefusedFileError, match="other"):
        prompts(write_csv(tmp_path / "b.csv", "one,b\nA,B\n"), data_source="pairs")
    with pytest.raises(ValueError, match="'cola'"):
        read_requests(TAGGING, "tag", ("text",), path, {}, Unread(), data_source="cola")


def test_the_only_task_needs_no_name_and_a_model_that_names_its_task_gets_it(tmp_path):
    only = several(TextTasks(tasks={"pairs": SEVERAL.tasks["pairs"]}))
    path = write(tmp_path / "a.jsonl", [{"one": "A", "other": "B"}, {"text": "sts 1: A 2: B"}, {"text": "A"}])
    found, unread = prompts(path, described=only)
    assert found == [{"text": "sts 1: A 2: B"}] * 2 and unread.counts == {"no_task": 1}
    path = write(tmp_path / "b.jsonl", [{"said": "They sat.", "of": "cola"}])
    named = several()
    named["signatures"]["generate"] = {"inputs": {"text": {}, "task": {}}, "choices": {"task": ["cola"]}}
    assert prompts(path, described=named, data_source="cola")[0] == [
        {"text": "cola sentence: They sat.", "task": "cola"}
    ]


def write_csv(path, text):
    path.write_text(text)
    return path


def test_files_of_published_data_are_read_as_the_models_own(tmp_path):
    (tmp_path / "test.txt").write_text("U.S. NNP I-NP B-LOC\n10\u00a0000 CD O O\n\nAda NNP O B-PER\n")
    data = {"kind": "published", "format": "conll2003", "folder": "x"}
    described = {**TAGGING, "recipe": {**TAGGING["recipe"], "data": data}}
    assert asked("tag", tmp_path / "test.txt", described=described)[0] == [{"words": each} for each in WORDS]
    (tmp_path / "other.txt").write_text("U.S. wins\n")
    assert asked("tag", tmp_path / "other.txt", described=described)[0] == [{"text": "U.S. wins"}]
    (tmp_path / "dev.tsv").write_text("sentence\tlabel\na film\t1\n")
    task = Classification(labels=("0", "1"))
    classes = {"classify": {"inputs": {"text": {}}}}
    recipe = {"task": json.loads(task.to_json()), "data": {**data, "format": "sst2"}}
    of_glue = {"recipe": recipe, "signatures": classes}
    assert asked("classify", tmp_path / "dev.tsv", described=of_glue)[0] == [{"text": "a film"}]
