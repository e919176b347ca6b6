import json
import os

import pytest

from tests.reports.stub_model import save_stub_language_model, save_stub_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    save_stub_model(folder)
    return folder


@pytest.fixture
def served(make_run, model):
    folder = make_run()
    (folder / "serving").mkdir()
    os.symlink(model, folder / "serving" / "17")
    return folder


def test_fill_mask(firth, served):
    result = firth("predict", "first", "fill-mask", "The [MASK] sat.", "[MASK] and [MASK].")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "The [MASK] sat.",
        "  [MASK]: cat 0.750  dog 0.250",
        "[MASK] and [MASK].",
        "  [MASK] 1: cat 0.750  dog 0.250",
        "  [MASK] 2: cat 0.750  dog 0.250",
    ]


def test_embed_as_json(firth, served):
    result = firth("predict", str(served), "embed", "four", "é", "--json")
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"text": "four", "embedding": [4.0, -4.0]},
        {"text": "é", "embedding": [2.0, -2.0]},
    ]


def test_a_saved_model_by_its_folder(firth, model):
    result = firth("predict", str(model), "embed", "four")
    assert result.stdout.splitlines()[1] == "  [4.0000, -4.0000] (2 values; --json prints all)"


SERVED = {"finished": "2026", "blessed": True, "pushed": "/elsewhere/serving/17"}


@pytest.mark.parametrize(
    ("summary", "note"),
    [
        (SERVED, ""),
        (
            {**SERVED, "blessed": False, "pushed": None, "reasons": ["mlm_accuracy is 0.1"]},
            "not blessed (mlm_",
        ),
        ({**SERVED, "pushed": "/elsewhere/serving/16"}, "its model is /elsewhere/serving/16"),
        (None, "it is unfinished"),
    ],
)
def test_an_answer_of_an_earlier_runs_model_says_so(firth, make_run, model, summary, note):
    folder = make_run(summary=summary, report=False)
    (folder / "serving").mkdir()
    os.symlink(model, folder / "serving" / "17")
    result = firth("predict", "first", "embed", "four")
    assert result.exit_code == 0 and result.stdout.startswith("four")
    assert note in result.stderr and bool(note) == (
        "first/serving/17 answers, which another" in result.stderr
    )


@pytest.mark.parametrize("options", [(), ("--verbose",)])
def test_a_text_without_a_mask(firth, served, options):
    result = firth("predict", "first", "fill-mask", "no mask", *options)
    assert result.exit_code == 2 and "there is no [MASK] in 'no mask'" in result.stderr


def test_a_run_without_a_model(firth, make_run):
    make_run()
    result = firth("predict", "first", "embed", "text")
    assert result.exit_code == 1 and "no model was pushed" in result.stderr


def test_an_unknown_task(firth, served):
    result = firth("predict", "first", "fillmask", "text")
    assert result.exit_code == 1 and "has no signature fillmask; did you mean fill_mask?" in result.stderr


def test_a_model_that_cannot_be_loaded_leaves_a_log(firth, make_run):
    folder = make_run()
    (folder / "serving" / "1").mkdir(parents=True)
    (folder / "serving" / "1" / "saved_model.pb").write_bytes(b"broken")
    result = firth("predict", "first", "embed", "text")
    assert result.exit_code == 1 and "The log is" in result.stderr


def test_score(firth, tmp_path):
    save_stub_language_model(tmp_path)
    result = firth("predict", str(tmp_path), "score", "a cat")
    assert result.stdout.splitlines() == ["a cat", "  -4.000 nats: a -1.00  cat -3.00"]
    answer = json.loads(firth("predict", str(tmp_path), "score", "a", "--json").stdout)
    assert answer == {"text": "a", "log_probability": -1.0, "pieces": ["a"], "log_probabilities": [-1.0]}


def test_score_with_a_target_that_the_model_does_not_take(firth, tmp_path):
    save_stub_language_model(tmp_path)
    result = firth("predict", str(tmp_path), "score", "a", "--target", "b")
    assert result.exit_code == 1 and "score takes texts alone" in result.stderr
    result = firth("predict", str(tmp_path), "embed", "a", "--target", "b")
    assert result.exit_code == 1 and "has no signature embed" in result.stderr
    result = firth("predict", str(tmp_path), "score", "a", "--target", "b", "--target", "c")
    assert result.exit_code == 2 and "once for each text" in result.stderr


def test_a_target_is_never_passed_over(firth, model):
    for task, text in (("embed", "four"), ("fill-mask", "a [MASK]")):
        result = firth("predict", str(model), task, text, "--target", "b")
        assert result.exit_code == 1 and "takes texts alone" in result.stderr


def test_a_task_that_the_model_does_not_have(firth, tmp_path):
    save_stub_language_model(tmp_path)
    result = firth("predict", str(tmp_path), "embed", "a")
    assert result.exit_code == 1 and "has no signature embed; one of: score" in result.stderr


def test_a_file_of_texts(firth, served, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"said": "four"}\nno\n{"said": "é"}\n')
    files = ("--input", "a.jsonl", "--output", "b.jsonl", "--column", "text=said")
    result = firth("predict", "first", "embed", *files)
    assert result.exit_code == 0, result.output
    assert result.stdout == "b.jsonl: 2 records answered, 1 could not be read (not_json 1)\n"
    assert "a.jsonl:2: not_json: not JSON" in result.stderr
    assert [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()] == [
        {"line": 1, "text": "four", "embedding": [4.0, -4.0]},
        {"line": 3, "text": "é", "embedding": [2.0, -2.0]},
    ]


def test_quotation_marks_of_a_tsv(firth, served, tmp_path):
    (tmp_path / "a.tsv").write_text('text\tid\n"a ""b"""\t1\n')
    files = ("predict", "first", "embed", "--input", "a.tsv", "--output", "b.jsonl")
    refused = firth(*files)
    assert refused.exit_code == 2 and "line 2" in refused.stderr and "--no-quoted" in refused.stderr
    for option, text in (("--quoted", 'a "b"'), ("--no-quoted", '"a ""b"""')):
        assert firth(*files, option).exit_code == 0
        assert json.loads((tmp_path / "b.jsonl").read_text())["text"] == text


@pytest.mark.parametrize(("arguments", "problem"), [
    ((), "give a TEXT, or files"),
    (("--input", "a.txt"), "--input and --output are given together"),
    (("--output", "b.jsonl"), "--input and --output are given together"),
    (("four", "--input", "a.txt", "--output", "b.jsonl"), "--input holds all texts"),
    (("--input", "a.txt", "--output", "b.jsonl", "--column", "text"), "INPUT=COLUMN"),
    (("--input", "a.txt", "--output", "b.jsonl"), "a.txt: there is no such file"),
    (("four", "--column", "text=a"), "--column names a column of --input"),
    (("four", "--source", "cola"), "a TEXT is asked as it is, so begin it with the prefix of its task"),
    (("four", "--quoted"), "--quoted: True is about tsv files"),
    (("--input", "a.csv", "--output", "b.jsonl", "--no-quoted"), "--quoted: False is about tsv files"),
])  # fmt: skip
def test_what_is_asked_stands_in_the_command_or_in_a_file(firth, served, tmp_path, arguments, problem):
    result = firth("predict", "first", "embed", *arguments)
    assert result.exit_code == 2 and problem in result.stderr, result.output
    assert not (tmp_path / "b.jsonl").exists()


FRESH = {"fresh": ["heads/masked_lm_head/bias"], "imported_from": "Hugging Face", "pushed": "/x/serving/17"}


@pytest.mark.parametrize(("summary", "asked", "notes"), [
    (FRESH, ("fill-mask", "a [MASK]"), ["the answer is random: the imported files have no heads/masked_lm"]),
    (FRESH, ("embed", "four"), []),
    ({**FRESH, "fresh": []}, ("fill-mask", "a [MASK]"), []),
])  # fmt: skip
def test_the_answer_of_a_head_that_nobody_has_trained_says_so(firth, make_run, model, summary, asked, notes):
    folder = make_run(summary=summary, report=False)
    (folder / "serving").mkdir()
    os.symlink(model, folder / "serving" / "17")
    result = firth("predict", "first", *asked)
    said = [line for line in result.stderr.splitlines() if "random" in line]
    assert result.exit_code == 0 and len(said) == len(notes), result.output
    assert all(note in line for note, line in zip(notes, said))
