"""Results as lm-evaluation-harness 0.4.13 writes them, and differences of two models."""

import json

import pytest

from firth.evaluation.harness import HarnessScore, harness_arguments, harness_rows, read_harness, task_names
from firth.reports.page import with_harness
from firth.scores.bootstrap import Interval


def written(folder, right, f1=0.25):
    """Writes the results of a task whose examples are right or wrong."""
    inner = folder / "model"
    inner.mkdir(parents=True)
    scores = {"alias": "pairs", "acc,none": sum(right) / len(right), "acc_stderr,none": 0.1, "f1,none": f1}
    generated = {"exact_match,stripped": 1.0, "exact_match_stderr,stripped": "N/A"}
    results = {"results": {"pairs": scores, "words": generated}}
    (inner / "results_2026-11-29T01-02-03.4.json").write_text(json.dumps(results))
    rows = [
        {"doc_id": number, "doc_hash": "ab", "filter": "none", "acc": value, "f1": [1, 0]}
        for number, value in enumerate(right)
    ]
    other = {"doc_id": 0, "doc_hash": "cd", "filter": "stripped", "exact_match": 1.0}
    for task, lines in (("pairs", rows), ("words", [other])):
        text = "".join(json.dumps(each) + "\n" for each in lines)
        (inner / f"samples_{task}_2026-11-29T01-02-03.4.jsonl").write_text(text)
    return str(folder)


def test_scores_are_read_with_the_values_of_their_examples(tmp_path):
    assert read_harness(written(tmp_path, [1.0, 0.0, 1.0, 1.0])) == [
        HarnessScore("pairs", "acc", 0.75, {"ab/0": 1.0, "ab/1": 0.0, "ab/2": 1.0, "ab/3": 1.0}),
        # Not a mean of its examples: without an interval.
        HarnessScore("pairs", "f1", 0.25),
        HarnessScore("words", "exact_match (stripped)", 1.0, {"cd/0": 1.0}),
    ]
    with pytest.raises(ValueError, match="0 starts"):
        read_harness(str(tmp_path / "model" / "nothing"))


def test_two_models_are_compared_on_the_same_resamples(tmp_path):
    one = read_harness(written(tmp_path / "one", [1.0] * 30 + [0.0] * 10))
    other = read_harness(written(tmp_path / "other", [1.0] * 29 + [0.0] * 11, f1=0.5))
    acc, f1, _ = harness_rows([one, other])
    assert acc.examples == 40 and acc.difference.value == pytest.approx(0.025)
    # All but one example agree: paired, the difference is known far better than either score.
    assert acc.difference.low == 0 and acc.difference.high < 0.1 < acc.values[0].high - acc.values[0].low
    assert f1.examples is None and f1.difference == Interval(-0.25, -0.25, -0.25)
    with pytest.raises(ValueError, match="pairs: the models"):
        harness_rows([one, read_harness(written(tmp_path / "third", [1.0]))])


def test_the_report_has_the_last_table_alone_and_escapes_names():
    rows = harness_rows([[HarnessScore("<b>", "acc", 0.5, {"a": 1.0, "b": 0.0})]])
    page = with_harness("<nav>\n</nav>\n</body>", ["demo"], rows)
    assert "&lt;b&gt;" in page and "<b>" not in page and page.count("<section>") == 1
    assert with_harness(page, ["demo"], []).count("<section>") == 1


def test_the_harness_is_asked_for_log_probabilities_of_ids():
    found = harness_arguments("m", "http://127.0.0.1:1", "tasks", ["a", "b"], "out", 63)
    given = dict(each.split("=") for each in found[found.index("--model_args") + 1].split(","))
    assert given["tokenizer_backend"] == "remote" and given["max_length"] == "64"
    assert found[found.index("--tasks") + 1] == "a,b" and "--log_samples" in found


def test_tasks_are_named_by_their_files(tmp_path):
    (tmp_path / "b.yaml").write_text("task: second\nprocess_docs: !function utils.docs\n")
    (tmp_path / "a.yaml").write_text("task: first\n")
    (tmp_path / "group.yaml").write_text("group: both\ntask: [first, second]\n")
    assert task_names(str(tmp_path)) == ["first", "second"]
    own = [
        f"firth_{task}{shots}{how}"
        for task in ("finance", "questions")
        for shots in ("", "_few", "_one")
        for how in ("", "_permuted")
    ]
    blimp = ["firth_blimp", "firth_blimp_permuted"]
    assert sorted(task_names("examples/harness")) == sorted([*blimp, *own, "firth_translations"])
    assert len(task_names("examples/harness/glue")) == 3 * len(own) // 2
