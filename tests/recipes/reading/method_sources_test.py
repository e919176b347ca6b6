"""Sources of a method: found by name or path, with their digest, and refused before data are read."""

import json

import pytest

from firth.recipes import RecipeError
from firth.recipes.reading.adapting import load_adapting_recipe
from firth.recipes.reading.bundles import digest_of_bundle
from firth.recipes.reading.method_sources import MethodSourceError, check_source
from tests.recipes.bundles import write_bundle

DATA = "data={kind: columns, train: a.csv}"
TASK = "task={kind: text_to_text, prefix: 'news: '}"
MIXED = (
    "data={kind: mixture, limit: 20, parts: [{kind: published, format: cola, folder: glue}, "
    "{kind: published, format: rte, folder: glue}]}",
    "task={kind: text_tasks, tasks: {cola: {kind: label_words, words: [a, b]}, "
    "rte: {kind: label_words, pair: true, words: [a, b]}}}",
)
SOURCE = {"kind": "multitask_prompt_tuning", "length": 20, "rank": 1, "tasks": 3}


@pytest.fixture
def root(tmp_path):
    for name in ("base", "multi"):
        write_bundle(tmp_path / "runs" / name / "bundle", preset="t5_tiny")
    write_source(tmp_path / "runs")
    return tmp_path / "runs"


def write_source(root, base=None, **changed):
    base = base or digest_of_bundle(str(root / "base" / "bundle"))
    folder = root / "multi" / "adapter"
    folder.mkdir(exist_ok=True)
    said = {"base": base, "recipe": {"method": {**SOURCE, **changed}}}
    (folder / "adapter.json").write_text(json.dumps(said))
    return folder


def load(root, *options, of=(DATA, TASK)):
    said = ["base=base", *of, "method.kind=multitask_prompt_tuning", *options]
    return load_adapting_recipe(None, said, root)


def test_a_mixture_says_how_many_tasks_there_are(root):
    assert load(root, of=MIXED).method.tasks == 2
    assert load(root).method.tasks == 1
    for number in (1, 3):
        with pytest.raises(RecipeError, match=rf"method\.tasks: {number}, .*text_tasks .*2"):
            load(root, f"method.tasks={number}", of=MIXED)


def test_a_source_is_found_by_name_and_by_path_and_has_its_digest(root):
    folder = root / "multi" / "adapter"
    by_name = load(root, "method.source=multi").method
    assert (by_name.source, by_name.source_digest) == (str(folder), digest_of_bundle(str(folder)))
    for path in (folder, root / "multi" / "bundle", root / "multi"):
        assert load(root, f"method.source={path}").method == by_name
    assert load(root).method.source_digest == ""


def test_a_source_that_changes_is_another_start(root):
    before = load(root, "method.source=multi")
    (root / "multi" / "adapter" / "adapter.safetensors").write_text("trained again")
    assert load(root, "method.source=multi").start_key != before.start_key
    with pytest.raises(MethodSourceError, match="not the adapter"):
        check_source(before.method, before.base.digest)


@pytest.mark.parametrize(("options", "written", "problem"), [
    (["method.source=mlti"], {}, "method.source: no run or imported model .* did you mean multi"),
    (["method.source=base"], {}, "method.source: .*bundle has no adapter next to it"),
    (["method.source=./none"], {}, "method.source: there is no folder"),
    (["method.source=multi"], {"base": "0" * 64}, "belongs to the base 0{64}, .* base is [0-9a-f]{64}"),
    (["method.source=multi"], {"kind": "prompt_tuning"}, "method.kind: prompt_tuning, not multitask"),
    (["method.source=multi", "method.length=4"], {}, r"method.length: 4, but .* has 20"),
    (["method.source=multi", "method.rank=2"], {}, r"method.rank: 2, but .* has 1"),
    (
        ["method.source=multi", "method.from_source=exact", "method.source_task=3"],
        {},
        "source_task: 3, but .* 3 tasks",
    ),
])  # fmt: skip
def test_a_source_that_does_not_fit_is_refused(root, options, written, problem):
    write_source(root, **written)
    with pytest.raises(RecipeError, match=problem):
        load(root, *options)


def test_a_shared_prompt_may_have_another_rank(root):
    assert load(root, "method.source=multi", "method.from_source=shared", "method.rank=2").method.rank == 2
