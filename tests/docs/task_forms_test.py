"""The tables of which model takes which task: each of their cells is what the recipes do."""

import functools
import pathlib
import re

import pytest

from firth.recipes import RecipeError
from firth.recipes.reading.adapting import load_adapting_recipe
from tests.recipes.bundles import write_bundle

PAGE = pathlib.Path(__file__).parents[2] / "docs/task-forms.md"
# A small preset of each base that the tables name.
PRESETS = {
    "BERT": "bert_tiny",
    "ALBERT": "albert_tiny",
    "ELECTRA": "electra_tiny",
    "DeBERTa": "deberta_v3_tiny",
    "RoBERTa": "roberta_tiny",
    "XLNet": "xlnet_tiny",
    "GPT": "gpt_1_tiny",
    "GPT-2": "gpt2_tiny",
    "Llama": "llama_tiny",
    "BART": "bart_tiny",
    "T5": "t5_tiny",
    "T5 1.1": "t5_1_1_tiny",
    "ELMo": "elmo_tiny",
    "prefix LM": "prefix_lm_tiny",
}
# Their cells are tried each time: bases that differ in kind.
FEW = ("BERT", "DeBERTa", "XLNet", "GPT-2", "T5", "ELMo")
# Settings of a recipe for the tasks of each column.
LABELLED = "data={kind: columns, train: a.csv}"
EMBEDDING = ["task={kind: embedding}"]
PAIR = "task.pair=true"
CLASSES = "task={kind: classification, labels: [no, yes]}"
TASKS = {
    "one text, two texts, numbers": (
        [CLASSES],
        [CLASSES, PAIR, "data.texts={text: a, pair: b}"],
        ["task={kind: regression}"],
    ),
    "words with tags": (["task={kind: tagging, labels: [O, B-A, I-A]}"],),
    "choices": (["task={kind: choice}"],),
    "answers in texts": (["task={kind: span}"],),
    "`text_to_text`": (["task={kind: text_to_text}"],),
    "`label_words`": (["task={kind: label_words, labels: [no, yes]}"],),
    "`written_number`": (["task={kind: written_number}"],),
    "`text_tasks`": (
        [
            "task={kind: text_tasks, tasks: {a: {kind: label_words}, b: {kind: written_number}}}",
            "data={kind: mixture, parts: [{kind: columns, train: a.csv}, {kind: columns, train: b.csv}]}",
        ],
    ),
    "`dialogue`": (["task={kind: dialogue}"],),
}


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables() -> list[tuple[str, str, str, str]]:
    """Base, form, column and what the cell says, of every cell of both tables."""
    found = []
    for table in re.findall(r"^\| Base \|.*\n(?:\|.*\n)+", PAGE.read_text(), re.MULTILINE):
        heading, _, *rows = map(cells, table.splitlines())
        for bases, form, *said in rows:
            for base in re.split(", | and ", bases.removesuffix(" and kin")):
                for name, cell in zip(heading[2:], said, strict=True):
                    columns = [name] if name in TASKS else name.split(", ")
                    found += [(base, form, column, cell) for column in columns]
    return found


@functools.cache
def root_of(folder: pathlib.Path, base: str) -> pathlib.Path:
    write_bundle(folder / PRESETS[base] / "base" / "bundle", preset=PRESETS[base])
    return folder / PRESETS[base]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> pathlib.Path:
    return tmp_path_factory.mktemp("bases")


CELLS = tables()


def load(folder, base, options):
    return load_adapting_recipe(None, ["base=base", LABELLED, *options], root_of(folder, base))


def test_both_tables_are_read():
    assert {column for _, _, column, _ in CELLS} == set(TASKS)
    assert {base for base, *_ in CELLS} == set(PRESETS)
    assert {cell for *_, cell in CELLS} == {"yes", "no"}


def kind_of(form: str) -> str:
    return re.match(r"`(\w+)`", form)[1]


@pytest.mark.parametrize(
    ("base", "form", "column", "said"),
    [
        pytest.param(*each, id="-".join(each[::2]), marks=() if each[0] in FEW else pytest.mark.repeated)
        for each in CELLS
    ],
)
def test_a_base_takes_a_task_as_its_cell_says(folder, base, form, column, said):
    for options in TASKS[column]:
        if said == "yes":
            recipe = load(folder, base, [*options, f"task.form.kind={kind_of(form)}"])
            assert recipe.task.form.kind == kind_of(form)
        else:
            check_refused(folder, base, options)


def check_refused(folder, base, options):
    """The refusal names the base's kind of model, and the tasks that it takes."""
    with pytest.raises(RecipeError) as error:
        load(folder, base, options)
    model = load(folder, base, [CLASSES]).model
    named = f"model.kind: {model.kind}, of the architecture {model.architecture}"
    assert f"{named}, cannot read texts in any form of task.kind: " in str(error.value)
    assert "; it takes classification, regression, tagging" in str(error.value)


# The first row of each base in the first table.
FORMS = {base: form for base, form, column, _ in reversed(CELLS) if column == "one text"}


@pytest.mark.parametrize("base", FORMS)
def test_texts_are_laid_out_as_the_table_says(folder, base):
    form = load(folder, base, TASKS["two texts"][0]).task.form
    assert form.kind == kind_of(FORMS[base])
    marks = {"cls": "[CLS]", "sep": "[SEP]", "bos": "<S>", "eos": "</S>"}
    roles = (*form.before, "a", *form.between, "b", *form.after)
    layout = " ".join(marks.get(role, role) for role in roles)
    assert f": `{layout}`" in FORMS[base].replace("` and `", " ")


@pytest.mark.parametrize("base", FORMS)
def test_vectors_of_sentences_are_trained_on_the_first_three_rows(folder, base):
    first_three = list(dict.fromkeys(form for _, form, *_ in CELLS))[:3]
    if FORMS[base] in first_three:
        load(folder, base, EMBEDDING)
    else:
        check_refused(folder, base, EMBEDDING)


@pytest.mark.parametrize("base", ["BERT", "RoBERTa", "XLNet", "ELMo"])
def test_texts_are_not_written_by_what_only_reads(folder, base):
    for column in ("`text_to_text`", "`label_words`", "`written_number`", "`text_tasks`"):
        check_refused(folder, base, TASKS[column][0])
