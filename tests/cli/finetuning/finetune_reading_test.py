"""`firth finetune` before anything runs: its messages about labelled data, and the recipe of its options."""

import json
import shutil
from typing import NamedTuple

import pytest

from firth.cli import execution
from firth.components import LabelledExampleGen
from firth.pipelines.run_folder import remember_recipe
from firth.recipes.reading.loading import load_run_recipe
from firth.tasks.labelled.data import handing_down
from firth.tasks.labelled.data_readers import LABELLED_DATA
from firth.tokenizers import WordPieceTokenizer, save_tokenizer
from tests.components.records.labelled_example_gen_executor_test import run as run_component
from tests.objectives.rows import SPECIALS
from tests.recipes.bundles import write_bundle

CSV = "text,label\n" + "".join(f"film {number},{('bad', 'good')[number % 2]}\n" for number in range(20))
CONLL = "EU B-ORG\nsaid O\n\nAda B-PER\nwrote O\n\n-DOCSTART- O\n\nLondon B-LOC\nbroken\n\nit O\n"
# Ten columns, of which the second is the word and the fourth its tag.
_WORDS = [("go", "VERB"), ("it", "PRON"), ("run", "VERB"), ("he", "PRON")]
CONLLU = "# a\n" + "".join(f"1\t{word}\t_\t{tag}{6 * chr(9)}_\n\n" for word, tag in _WORDS)


def question(id, answer, start, text="When?"):
    return {"id": id, "question": text, "answers": [{"text": answer, "answer_start": start}]}


PARAGRAPHS = [
    {
        "context": "In 1066 there were none of them.",
        "qas": [
            question("a", "1066", 3),
            question("b", "none", 3),
            question("a", "them", 27),
            question("d", "them", 27, text=" "),
            {"id": "e", "question": "Who?", "answers": []},
            {"id": "f", "question": "Who?", "answers": [], "is_impossible": True},
        ],
    },
    {"context": "In 1067 there were none.", "qas": [question("g", "1067", 3)]},
]
SQUAD = json.dumps({"version": "2.0", "data": [{"title": "A", "paragraphs": PARAGRAPHS}]})
TAGGED = [
    {"words": ["a", "b"], "tags": ["O", "B-X"]},
    {"words": ["c"], "tags": ["O"]},
    {"words": ["d"], "tags": []},
]


OBJECTS = json.dumps([{"text": f"a {n}", "label": n % 2} for n in range(9)])
TEXT, WORDS = {"text": "text"}, {"words": "words"}


class Ran(NamedTuple):
    recipe: object
    output: str


@pytest.fixture
def finetune(firth, tmp_path, monkeypatch):
    """Runs the command up to where a pipeline would start: the recipe of the run, and what was printed."""
    write_bundle(tmp_path / "firth-runs" / "base" / "bundle")
    ran = []

    def stop(run, recipe, *others):
        ran.append(recipe)
        raise SystemExit(0)

    monkeypatch.setattr(execution, "execute", stop)

    def call(*arguments, base="base", exit_code=0):
        ran.clear()
        found = firth("finetune", *([base] if base else []), *arguments)
        assert found.exit_code == exit_code, found.output
        return Ran(ran[0] if ran else None, found.output)

    return call


def write_writer(bundle, *words):
    """Writes a bundle of a model that writes, with a vocabulary of some words."""
    write_bundle(bundle, preset="t5_tiny")
    shutil.rmtree(bundle / "tokenizer")
    letters = [mark + letter for letter in "abcdefghijklmnopqrstuvwxyz0123456789." for mark in ("", "##")]
    save_tokenizer(WordPieceTokenizer([*SPECIALS, *letters, *words]), bundle / "tokenizer")


def write(folder, name, content):
    text = content if isinstance(content, str) else "".join(f"{json.dumps(row)}\n" for row in content)
    (folder / name).write_bytes(text.encode())
    return name


@pytest.mark.parametrize(("task", "name", "content", "texts", "label", "said"), [
    ("classification", "a.csv", CSV, TEXT, "label", "train: 16 records of a.csv\n  labels: bad 8, good 8"),
    ("classification", "a.csv", "\ufeff" + CSV.replace("\n", "\r\n"), TEXT, "label", "train: 16 records"),
    ("classification", "a.json", OBJECTS, TEXT, "label", "train: 8 records of a.json"),
    ("tagging", "a.conll", CONLL, WORDS, "tags", "wrong_columns: line 10 has 1 columns, not 2"),
    ("tagging", "a.bio", CONLL.replace(" ", "\t"), WORDS, "tags", "2 records of a.bio, 1 rejected"),
    ("tagging", "a.conllu", CONLLU, WORDS, "tags", " of a.conllu"),
    ("tagging", "a.jsonl", TAGGED, WORDS, "tags", "a.jsonl:3: unequal_words_and_tags: there are 1 words"),
    ("span", "a.json", SQUAD, {"question": "question", "context": "context"}, "answers",
     "5 rejected (answer_not_at_offset 1, duplicate_id 1, empty_text 1, no_label 2)"),
    ("embedding", "a.csv", "text,pair\na,b\nc,d\n", {**TEXT, "pair": "pair"}, None, "1 record of a.csv"),
    ("choice", "a.jsonl", [{"context": f"a {n}", "choices": ["b", "c"], "label": n % 2} for n in range(4)],
     {"context": "context", "choices": "choices"}, "label", "train: 3 records"),
    ("regression", "a.csv", "text,label\na,1\nb,2.5\nc,x\nd,4\n", TEXT, "label",
     "a.csv:4: label_not_a_number: the label 'x' is not a number"),
])  # fmt: skip
def test_a_file_of_each_task_in_one_command(finetune, tmp_path, task, name, content, texts, label, said):
    ran = finetune("--task", task, "--train", write(tmp_path, name, content))
    assert said in ran.output and "held out of those to train on" in ran.output
    assert (ran.recipe.task.kind, ran.recipe.data.texts, ran.recipe.data.label) == (task, texts, label)
    assert getattr(ran.recipe.task, "labels", None) != ()


def test_the_files_are_read_once_for_the_command_and_the_run(firth, tmp_path, monkeypatch):
    """The component writes what the command has read to complete the recipe, unless a file has changed."""
    write_bundle(tmp_path / "firth-runs" / "base" / "bundle")
    ran, read = [], []
    monkeypatch.setattr(execution, "execute", lambda run, *given: (ran.append(given), exit(0)))
    reader = LABELLED_DATA["columns"]
    counting = reader._replace(read=lambda *given: (read.append(given[-1]), reader.read(*given))[1])
    monkeypatch.setitem(LABELLED_DATA, "columns", counting)
    file = tmp_path / write(tmp_path, "a.csv", CSV)
    assert firth("finetune", "base", "--task", "classification", "--train", "a.csv").exit_code == 0
    (recipe, _, options), *_ = ran
    assert read == ["train"]
    with handing_down(options.records):
        run_component(LabelledExampleGen(recipe.data, recipe.task), tmp_path / "first")
        assert read == ["train"] and options.records.found is None
        run_component(LabelledExampleGen(recipe.data, recipe.task), tmp_path / "again")
    assert read == ["train", "train"]
    first, again = ((tmp_path / name / "report.json").read_bytes() for name in ("first", "again"))
    assert first == again
    ran.clear()
    firth("finetune", "base", "--task", "classification", "--train", "a.csv")
    file.write_text(f"{CSV}film x,good\n")
    with handing_down(ran[0][2].records):
        run_component(LabelledExampleGen(recipe.data, recipe.task), tmp_path / "changed")
    assert read == ["train"] * 4


def test_what_is_read_and_how_it_is_trained_on_is_said_before_the_run(finetune, tmp_path):
    """A repeated text with another label, and what is in both files, as well."""
    write(tmp_path, "a.csv", f"{CSV}film 0,good\nfilm 0,bad\n,good\n" + "one,two,three\n" * 7)
    write(tmp_path, "b.csv", "text,label\nfilm 0,bad\nfilm 2,good\nother,good\nnew,excellent\n")
    ran = finetune("--task", "classification", "--train", "a.csv", "--eval", "b.csv")
    assert ran.output.splitlines() == [
        "train: 22 records of a.csv, 8 rejected (empty_text 1, wrong_columns 7)",
        f"  {tmp_path}/a.csv:24: empty_text: 'text' is empty",
        *(f"  {tmp_path}/a.csv:{n}: wrong_columns: 3 cells, but 2 columns" for n in range(25, 29)),
        "  and 3 more",
        "  labels: bad 11, good 11",
        "  records with the text of an earlier one: 2, texts with several labels: 1",
        "eval: 3 records of b.csv, 1 rejected (unknown_label 1)",
        f"  {tmp_path}/b.csv:5: unknown_label: unknown label 'excellent'; one of: bad, good",
        "  labels: bad 1, good 2",
        "2 of 3 records to evaluate on have texts that are trained on, 1 with another label: "
        "scores of them are not of new texts",
        "training: full, 3 epochs of about 32 records a step, learning rate 0.0003",
    ]


@pytest.mark.parametrize(("arguments", "said"), [
    (["--train", "absent.csv"], "absent.csv: there is no such file"),
    (["--train", "."], ": this is a folder"),
    (["--train", "empty.csv"], "empty.csv: there is no line that names the columns"),
    (["--train", "no_header.csv"], "there is no column 'text' in line 1; one of: film 0, bad"),
    (["--train", "tabs.csv"], "in line 1, where names are between tabs; the name of such"),
    (["--train", "commas.tsv"], "in line 1, where names are between commas"),
    (["--train", "semicolons.csv"], "in line 1, where names are between semicolons; save it with commas"),
    (["--train", "list.jsonl"], "list.jsonl:1: a list begins here"),
    (["--train", "sheet.csv"], "contains a NUL; is it a table in text"),
    (["--train", "numbers.csv"], "no classes; regression learns numbers"),
    (["--train", "one.csv"], "all 20 records to train on have the label 'bad'"),
    (["--train", "a.csv", "--label", "text"], "data.label: 'text' is a column of data.texts too"),
    (["--train", "a.csv", "--text", "txt"], "there is no column 'txt' in line 1; did you mean text?"),
    (["--train", "a.csv", "--data", "."], "--data and --train: give one of them"),
    (["--data", "."], "classification is a kind of task, for a file of your own with --train"),
    (["--eval", "a.csv"], "--eval: it is of a file of your own; name that with --train"),
    (["--train", "a.csv", "--set", "task.scores=[accuracy, pearson]"],
     "pearson cannot score the answers of task.kind: classification; one of: accuracy, f1, macro_f1"),
    (["--train", "a.csv", "--set", "evaluation.thresholds=[{metric: pearson, lower_bound: 0.1}]"],
     "pearson is not a metric of task.kind: classification with task.scores: ['accuracy']"),
    (["--train", "a.conll"], "there is no column 'text' in a file of tagged words; one of: words, tags"),
    (["--train", "a.json"], "there is no column 'text' in SQuAD's form; did you mean context?"),
    (["--task", "tagging", "--train", "words.conll"], "no column 'tags' in a file of tagged words"),
    (["--task", "regression", "--train", "a.csv"], "a.csv:2: the label 'bad' is not a number"),
    (["--task", "sst2", "--train", "a.csv"], "sst2 is a published data set; name its folder"),
    (["--task", "sst2"], "sst2 is a published data set; name its folder with --data"),
    (["--task", "text_tasks", "--train", "a.csv"], "text_tasks needs task.tasks, which no option says"),
    (["--task", "clasification", "--train", "a.csv"], "did you mean classification?"),
    (["--task", "ner", "--train", "a.csv"], "unknown kind 'ner'; tagging is its name here"),
    (["--task", "translation_en_to_fr", "--train", "a.csv"], "text_to_text is its name here"),
])  # fmt: skip
def test_what_would_be_guessed_at_is_refused(finetune, tmp_path, arguments, said):
    for name, content in {
        "a.csv": CSV,
        "empty.csv": "",
        "no_header.csv": CSV.split("\n", 1)[1],
        "tabs.csv": CSV.replace(",", "\t"),
        "commas.tsv": CSV,
        "semicolons.csv": CSV.replace(",", ";"),
        "list.jsonl": '[{"text": "a",',
        "sheet.csv": "PK\x03\x04\x14\x00",
        "numbers.csv": "text,label\n" + "".join(f"film {n},{n / 7:.3f}\n" for n in range(30)),
        "one.csv": CSV.replace("good", "bad"),
        "a.conll": CONLL,
        "words.conll": "EU\n\nsaid\n",
        "a.json": SQUAD,
    }.items():
        write(tmp_path, name, content)
    task = () if "--task" in arguments else ("--task", "classification")
    ran = finetune(*task, *arguments, exit_code=2)
    assert said in ran.output and ran.recipe is None


def test_a_run_is_run_again_from_its_own_recipe(finetune, tmp_path):
    options = ("--task", "classification", "--train", write(tmp_path, "a.csv", CSV), "--epochs", "2")
    recipe = finetune(*options).recipe
    folder = tmp_path / "firth-runs" / recipe.name
    folder.mkdir()
    remember_recipe(folder, recipe)
    assert load_run_recipe(folder / "recipe.yaml") == recipe
    assert finetune("--recipe", f"{folder}/recipe.yaml", base=None).recipe == recipe


def test_a_published_set_without_a_split_to_evaluate_on_holds_out_a_part(firth, finetune, tmp_path):
    write_writer(tmp_path / "firth-runs" / "t5" / "bundle")
    rows = "".join(f"{n},Long text {n}.,Short {n}.\n" for n in range(9))
    write(tmp_path, "xsum.csv", f"id,article,highlights\n{rows}")
    ran = finetune("--task", "xsum", "--data", ".", base="t5")
    assert ran.recipe.data.eval is None and "records of xsum.csv, held out of those to train on" in ran.output
    write(tmp_path, "test.csv", f"id,article,highlights\n{rows}")
    assert finetune("--task", "xsum", "--data", ".", base="t5").recipe.data.eval == "test"


def test_a_method_that_does_not_fit_is_refused_before_the_data_are_read(firth, tmp_path):
    write_bundle(tmp_path / "firth-runs" / "base" / "bundle")
    (tmp_path / "films.csv").write_text("text,label\na,1\n" + "broken\n" * 9)
    asked = ("finetune", "base", "--task", "classification", "--train", "films.csv", "--method", "lora")
    named = firth(*asked, "--set", 'method.targets=["attention/qurey"]')
    assert named.exit_code == 2 and "did you mean attention/query" in named.stderr
    large = firth(*asked, "--set", "method.rank=5000")
    assert large.exit_code == 2 and "method.rank: 5000, but" in large.stderr


def test_targets_that_are_cut_or_cannot_be_written_are_said_before_anything_runs(finetune, tmp_path):
    write_writer(tmp_path / "firth-runs" / "writer" / "bundle", "hello")
    rows = "".join(f"text {n},{'hello ' * (9 if n % 5 == 0 else 2)}\n" for n in range(30))
    options = ("--task", "text_to_text", "--train", "a.csv", "--set=task.target_tokens=6")
    write(tmp_path, "a.csv", f"text,label\n{rows}")
    said = " ".join(finetune(*options, base="writer").output.split())
    assert "targets of train have more than 5 pieces, and lose the rest: task.target_tokens" in said
    write(tmp_path, "a.csv", f"text,label\n{rows}x,यह\ny,है\nz,film\n")
    refused = finetune(*options, "--set=validation.unknown_targets=0.01", base="writer", exit_code=2)
    assert refused.recipe is None and "validation.unknown_targets" in refused.output


@pytest.mark.parametrize(("schema", "said"), [
    ('{"enum": [1, 22]}', ""),
    ('{"enum": [1, 22', "order.json:1: it is no JSON"),
    ('{"type": "integer", "minimum": 3}', "#/minimum"),
    ('{"type": "array", "items": {"enum": [1]}}', "no piece with b'['"),
    ('{"enum": [1234567]}', "has at least 8 tokens, and task.target_tokens leaves 6"),
    ('{"type": "string", "pattern": "^(?<x>a)$"}', "#/pattern: Python does not read"),
    ('{"enum": [1], "$anchor": "a"}', "#/$anchor: unsupported"),
    (None, "order.json: "),
])  # fmt: skip
def test_a_schema_becomes_a_part_of_the_recipe_or_is_refused_before_anything_runs(
    finetune, tmp_path, schema, said
):
    write_writer(tmp_path / "firth-runs" / "writer" / "bundle")
    write(tmp_path, "a.csv", "text,label\n" + "".join(f"text {n},{n}\n" for n in range(9)))
    if schema is not None:
        write(tmp_path, "order.json", schema)
    options = ("--task", "text_to_text", "--train", "a.csv", "--set=task.target_tokens=6")
    options = (*options, "--set=task.schema=order.json", "--set=task.scores=[schema_valid_constrained]")
    ran = finetune(*options, base="writer", exit_code=2 if said else 0)
    if said:
        assert "task.schema: " in ran.output and said in " ".join(ran.output.split())
    else:
        assert ran.recipe.task.schema == json.loads(schema)
        assert ran.recipe.task.score_names == ("schema_valid_constrained", "schema_valid")
