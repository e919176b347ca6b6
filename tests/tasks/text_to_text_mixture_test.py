"""Several tasks as one from text to text: what is read and written of each data set, and its own scores."""

import dataclasses
import json

import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from firth.corpus.io.records import read_records, write_records
from firth.corpus.packing.mixture_plan import plan_mixture
from firth.evaluation.record_scores import EXAMPLE_COUNT, Records, record_scores
from firth.recipes import load_recipe
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.data import ColumnData, DataMixture, PublishedData
from firth.recipes.tasks.dialogue import Dialogue
from firth.recipes.tasks.forms import PrefixForm
from firth.recipes.tasks.tasks import TextTasks, task_from_json
from firth.recipes.tasks.text_to_text import LabelWords, TextToText, WrittenNumber
from firth.recipes.tokenizers.chat_template import TEMPLATES
from firth.scores import Collected
from firth.storage import glob
from firth.tasks import TASKS
from firth.tasks.labelled.data import read_labelled_data
from firth.tasks.labelled.examples import to_example
from firth.tasks.readers import LabelledRecord
from firth.tasks.task_options import check_schema, with_labels
from firth.tasks.task_rows import make_task_rows, pack_records
from firth.tokenizers import save_tokenizer
from tests.exported_model import RECIPE
from tests.generation.cases import eagerly
from tests.tasks.text_to_text_test import TEXTS, base, bytes_tokenizer, scored_rows, served, with_tokenizer

GRAMMAR = LabelWords(prefix="cola sentence: ", words=("unacceptable", "acceptable"))
ALIKE = WrittenNumber(pair=True, prefix="stsb sentence1: ", pair_prefix="sentence2: ")
NEWS = TextToText(prefix="summarize: ", scores=("rouge_l",))
TASK = TextTasks(tasks={"cola": GRAMMAR, "stsb": ALIKE, "news": NEWS})


@pytest.fixture
def data(tmp_path):
    """CoLA as it is published, and two files of one's own."""
    (tmp_path / "CoLA").mkdir()
    for split, count in (("train", 40), ("dev", 4)):
        rows = (f"x\t{number % 2}\t*\tThey sat {number}." for number in range(count))
        (tmp_path / "CoLA" / f"{split}.tsv").write_text("\n".join([*rows, ""]))
    numbers = (f"a {number},b {number},{number % 6 - 0.03:.2f}" for number in range(1, 21))
    (tmp_path / "stsb.csv").write_text("\n".join(["one,other,score", *numbers, "a,b,much", ""]))
    texts = (json.dumps({"body": f"It rained {number}.", "title": [f"Rain {number}", "Rain"]})
             for number in range(10))  # fmt: skip
    (tmp_path / "news.jsonl").write_text("\n".join([*texts, ""]))
    return DataMixture(
        parts=(
            PublishedData(format="cola", folder=str(tmp_path)),
            ColumnData(
                train=str(tmp_path / "stsb.csv"), texts={"text": "one", "pair": "other"}, label="score"
            ),
            ColumnData(train=str(tmp_path / "news.jsonl"), texts={"text": "body"}, label="title"),
        ),
        limit=20,
    )


def recipe_of(data, task=TASK):
    return AdaptingRecipe(
        name="adapted",
        data=data,
        base={"bundle": "base", "digest": "0" * 64},
        tokenizer=RECIPE.tokenizer,
        sequences=RECIPE.sequences.model_copy(update={"length": 64, "max_documents": 4}),
        model=load_recipe("t5_tiny").model,
        task=task,
    )


def test_each_data_set_brings_its_classes_and_its_scores(data):
    task = with_labels(recipe_of(data)).task
    assert task.tasks["cola"].labels == ("0", "1") and task.tasks["cola"].words == GRAMMAR.words
    assert task.score_names == ("cola.matthews", "stsb.pearson", "stsb.spearman", "news.rouge_l")
    assert task.score_metrics[:3] == ("cola.matthews", "cola.matthews_low", "cola.matthews_high")
    assert task_from_json(task.to_json()) == task


def test_only_a_task_with_a_schema_is_scored_by_one():
    with pytest.raises(ValueError, match=r"schema_valid.*task\.schema"):
        TextToText(scores=("schema_valid",))
    task = TextTasks(tasks={"count": TextToText(schema={"type": "integer"}), "news": NEWS})
    assert task.score_names[2:] == ("count.schema_valid", "count.schema_valid_constrained", "news.rouge_l")
    assert task.score_options("count.schema_valid_constrained") == {"schema": {"type": "integer"}}


@eagerly()
def test_the_texts_of_a_task_are_held_to_its_own_schema():
    """Of random weights, of which no free text is valid; each row has the records of one task."""
    schemas = {"one": {"enum": [11, 12]}, "two": {"type": "object", "properties": {}}}
    tasks = {source: TextToText(scores=(), schema=schema) for source, schema in schemas.items()}
    task = TextTasks(tasks={**tasks, "three": NEWS}, target_tokens=4)
    plain = served("t5_tiny", "text").recipe
    made = with_tokenizer(plain.model_copy(update={"task": task}), bytes_tokenizer())
    function = TASKS[task.kind](task, made.recipe.sequences, made.tokenizer)
    records = [
        LabelledRecord(f"{source}{n}", {"text": text}, "x", "f", n, source)
        for source in task.tasks
        for n, text in enumerate(TEXTS[:2])
    ]
    encoded = [each._replace(source=record.source) for each, record in zip(function.encode(records), records)]
    found, records = scored_rows(made, pack_records(encoded, task, made.recipe.sequences).rows)
    written = {
        source: [e.prediction.strip() for e in records.constrained if e.source == source]
        for source in task.tasks
    }
    assert set(written["one"]) <= {"11", "12"} and len(written["one"]) == 2
    assert written["two"] == ["{}"] * 2 and written["three"] == [""] * 2
    for source in schemas:
        assert (found[f"{source}.schema_valid"], found[f"{source}.schema_valid_constrained"]) == (0.0, 1.0)
    assert "three.schema_valid" not in found and found["three.rouge_l"] >= 0.0


@pytest.mark.parametrize(("task", "key", "said"), [
    (TextTasks(tasks={"a": TextToText(schema={"const": "b" * 99})}), "tasks.a.schema", "target_tokens"),
    (Dialogue(reply_tokens=6, schema={"const": "b" * 99}), "schema", "task.reply_tokens leaves 6"),
    (Dialogue(schema={"type": "integer", "minimum": 3}), "schema", "#/minimum"),
])  # fmt: skip
def test_a_schema_that_no_text_can_have_is_refused_by_its_key(tmp_path, task, key, said):
    save_tokenizer(bytes_tokenizer(chat_template=TEMPLATES["plain"]), tmp_path / "tokenizer")
    recipe = with_tokenizer(served("gpt2_tiny", "text").recipe, bytes_tokenizer()).recipe
    based = recipe.base.model_copy(update={"bundle": str(tmp_path)})
    with pytest.raises(ValueError, match=rf"^task\.{key}: .*{said}"):
        check_schema(recipe.model_copy(update={"task": task, "base": based}))


def test_records_are_texts_with_their_prefixes_and_texts_to_write(data):
    found = read_labelled_data(data, with_labels(recipe_of(data)).task)
    records = {each.id: each for split in found.splits.values() for each in split.records}
    texts = {id: (each.texts, each.label) for id, each in records.items()}
    assert texts["cola:2"] == ({"text": "cola sentence: They sat 1."}, "acceptable")
    assert texts["cola:1"] == ({"text": "cola sentence: They sat 0."}, "unacceptable")
    # 4.97 is written as 5.0, and 0.97 as 1.0.
    assert texts["stsb:6"] == ({"text": "stsb sentence1: a 5 sentence2: b 5"}, "5.0")
    assert texts["stsb:2"] == ({"text": "stsb sentence1: a 1 sentence2: b 1"}, "1.0")
    assert texts["news:1"] == ({"text": "summarize: It rained 0."}, ("Rain 0", "Rain"))
    assert found.splits["train"].counts == {"label_not_a_number": 1}
    shares = {share.source: share.asked for share in found.shares}
    sizes = [sum(each.source == name for each in found.splits["train"].records) for name in shares]
    assert sizes[0] == 40 and list(shares.values()) == pytest.approx(
        [size / sum((20, *sizes[1:])) for size in (20, *sizes[1:])]
    )


def test_rows_made_of_files_know_the_task_of_each_record(data, tmp_path):
    recipe = with_labels(recipe_of(data))
    found = read_labelled_data(data, recipe.task)
    splits = tuple(found.splits)
    for name, split in found.splits.items():
        written = [to_example(each, each.source) for each in split.records]
        write_records(f"{tmp_path}/records/{name}", 0, 1, written)
    make_task_rows(
        {name: [f"{tmp_path}/records/{name}/*"] for name in splits},
        recipe.task,
        recipe.sequences,
        base().tokenizer,
        {name: f"{tmp_path}/rows/{name}" for name in splits},
        str(tmp_path),
    )
    numbers = {}
    for path in glob(f"{tmp_path}/rows/*/*"):
        for row in map(tf.train.Example.FromString, read_records(path)):
            fields = row.features.feature
            source = fields["source"].bytes_list.value[0].decode()
            numbers.setdefault(source, set()).update(fields[names.TASK_IDS].int64_list.value)
    assert numbers == {"cola": {0}, "stsb": {1}, "news": {2}}


def test_rates_are_those_of_the_paper():
    """By hand for CoLA, STS-B and MNLI: sizes 8,551, 5,749 and 392,702 with K = 65,536."""
    sizes, parts = {"cola": 8551, "stsb": 5749, "mnli": 392702}, []
    for name in sizes:
        parts.append(ColumnData(train=f"{name}.csv"))
    for temperature, rates in ((1.0, (0.10711, 0.07201, 0.82088)), (2.0, (0.21794, 0.17870, 0.60336))):
        mixed = DataMixture(parts=tuple(parts), limit=65536, temperature=temperature).mixture
        shares = plan_mixture(mixed, sizes, list(sizes))
        assert [share.asked for share in shares] == pytest.approx(rates, abs=1e-5)


def test_a_text_says_what_it_says_in_the_task_of_its_source(data):
    task = with_labels(recipe_of(data)).task
    written = {"cola": b"acceptable", "stsb": b" 2.4", "news": b"Rain"}
    right = {"cola": ["unacceptable"], "stsb": ["2.6"], "news": ["Rain 0", "Rain"]}
    said = {}
    for source, text in written.items():
        outputs = {
            names.RECORD_WEIGHTS: np.array([1.0, 1.0, 0.0]),
            names.RECORD_KEYS: np.array([7, 8, 0]),
            names.RECORD_LENGTHS: np.array([3, 3, 0]),
            names.RECORD_TEXTS: np.array([text, b"nothing of it", b""], object),
            names.RECORD_DETAILS: np.array([json.dumps({"right": right[source], "lead": "x"})] * 2, object),
        }
        found = TASKS[task.kind].collected(task, outputs, source)
        said[source] = [(each.reference, each.prediction) for each in found]
    assert said == {
        "cola": [("0", "1"), ("0", "")],
        "stsb": [(2.6, 2.4), (2.6, -1.0)],
        "news": [(["Rain 0", "Rain"], "Rain"), (["Rain 0", "Rain"], "nothing of it")],
    }


def test_each_score_is_of_the_records_of_its_own_data_set(data):
    task = with_labels(recipe_of(data)).task
    of_cola = [Collected(f"c{n}", str(n % 2), str(n % 2), "cola", 9) for n in range(4)]
    of_stsb = [Collected(f"s{n}", float(n), float(-n), "stsb", 9) for n in range(4)]
    of_news = [Collected("n", "Rain", "Sun", "news", 20), Collected("m", "Rain", "Rain", "news", 9)]
    found = record_scores(task, Records([*of_cola, *of_stsb, *of_news]))
    values = {name: round(found[name], 6) for name in task.score_names}
    assert values == {"cola.matthews": 1.0, "stsb.pearson": -1.0, "stsb.spearman": -1.0, "news.rouge_l": 0.5}
    assert found["news.rouge_l[length=17-32]"] == 0.0 and found["stsb.pearson_high"] <= 1.0
    # A slice of one source has the scores of this one alone.
    alone = {name: value for name, value in record_scores(task, Records(of_stsb)).items() if value == value}
    assert {name.partition(".")[0] for name in alone if not name.startswith(EXAMPLE_COUNT)} == {"stsb"}
    # Without any record, each score is as bad as it can be.
    assert record_scores(task, Records())["stsb.pearson"] == -1.0


@pytest.mark.parametrize(("change", "problem"), [
    ({"tasks": {"cola": GRAMMAR, "stsb": ALIKE}}, "no task for the source 'news' of data.parts"),
    ({"tasks": {**TASK.tasks, "rte": GRAMMAR}}, "no part of data has the source 'rte'"),
    ({"tasks": {**TASK.tasks, "new": NEWS}}, "'new'; did you mean news?"),
])  # fmt: skip
def test_tasks_are_those_of_the_data(data, change, problem):
    with pytest.raises(ValueError, match=r"task\.tasks") as error:
        recipe_of(data, TextTasks(**change))
    assert problem in str(error.value)


def test_what_is_wrong_is_said(data):
    with pytest.raises(ValueError, match=r"text_tasks .*data\.kind: mixture"):
        recipe_of(data.parts[2])
    with pytest.raises(ValueError, match=r"tasks\.news\.target_tokens: "):
        TextTasks(tasks={"news": NEWS.model_copy(update={"target_tokens": 9})})
    of_prefix = NEWS.model_copy(update={"form": PrefixForm()})
    assert TextTasks(tasks={"news": of_prefix}, form=PrefixForm()).form == PrefixForm()
    of_one_task = dataclasses.replace(Collected("a", "x", "x", "cola"), source="other")
    scores = record_scores(TASK, Records([of_one_task]))
    assert all(np.isnan(value) for name, value in scores.items() if not name.startswith(EXAMPLE_COUNT))
