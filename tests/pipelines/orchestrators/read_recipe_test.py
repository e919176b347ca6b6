"""The program that says the values of a run, given what an orchestrator would give it."""

import json

import pytest

pytest.importorskip("kfp.pipeline_spec", reason="kfp-pipeline-spec is not installed")

from firth.pipelines.orchestrators import read_recipe
from firth.pipelines.orchestrators.compiling import Settings, compile_pipeline
from firth.pipelines.orchestrators.run_time import COMPILED, PIPELINES, READER
from firth.recipes import RecipeError, load_recipe, recipe_to_yaml
from firth.recipes.reading.adapting import load_adapting_recipe
from tests.recipes.bundles import write_bundle


def compiled(recipe, kind="pretrain", orchestrator="vertex"):
    document = compile_pipeline(recipe, Settings(kind, orchestrator, "me/firth:1", "gs://no-bucket/root"))
    spec = document.get("pipelineSpec", document)
    inputs = spec["root"]["dag"]["tasks"][READER]["inputs"]["parameters"]
    asked = list(spec["components"][READER]["outputDefinitions"]["parameters"])
    unset = {
        name: each["defaultValue"] for name, each in spec["root"]["inputDefinitions"]["parameters"].items()
    }
    return {**unset, COMPILED: inputs[COMPILED]["runtimeValue"]["constant"]}, asked


def values(folder, given, **parameters):
    """Returns the values of a run whose parameters are given as JSON gives them, integers as floats."""
    inputs, asked = given
    file = folder / "output.json"
    outputs = {"outputFile": str(file), "parameters": {name: {} for name in asked}}
    read_recipe.main(
        json.dumps({"inputs": {"parameterValues": {**inputs, **parameters}}, "outputs": outputs})
    )
    return json.loads(file.read_text())["parameterValues"]


@pytest.fixture
def corpus(tmp_path):
    """A recipe of two files; the second may come later."""
    (tmp_path / "a.txt").write_text("A word.\n")
    return load_recipe("demo", [of_texts(tmp_path)])


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The recipe of a file that no test changes, and its compiled pipeline."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "a.txt").write_text("A word.\n")
    recipe = load_recipe("demo", [of_texts(folder)])
    return recipe, compiled(recipe)


def of_texts(folder):
    return f"sources=[{{kind: text, paths: ['{folder}/*.txt']}}]"


def training(found):
    return json.loads(json.loads(found["Trainer_custom_config"])["recipe"])["training"]


def test_a_run_without_parameters_has_the_compiled_recipe(tmp_path, shared):
    corpus, given = shared
    found = values(tmp_path, given)
    assert json.loads(found["Reporter_recipe"]) == json.loads(corpus.to_json())
    assert found["SequenceGen_special_tokens"] == corpus.objective.special_tokens


def test_steps_rate_and_any_key_may_be_said_by_a_run(tmp_path, shared):
    found = values(
        tmp_path,
        shared[1],
        steps=700.0,
        learning_rate=2e-5,
        overrides="training.batch_size=8\n\n evaluation.thresholds=[] \n",
    )
    assert training(found)["steps"] == 700 and training(found)["batch_size"] == 8
    assert training(found)["optimizer"]["learning_rate"] == 2e-5
    assert json.loads(found["Trainer_train_args"]) == {"num_steps": 700}
    assert json.loads(found["Reporter_recipe"])["evaluation"]["thresholds"] == []


def test_a_file_that_is_new_changes_the_fingerprint_alone(tmp_path, corpus):
    given = compiled(corpus)
    before = values(tmp_path, given)
    (tmp_path / "b.txt").write_text("Another word.\n")
    after = values(tmp_path, given)
    assert {key for key in before if before[key] != after[key]} == {"CorpusExampleGen_fingerprint"}


def test_a_scheduled_run_reads_the_newest_span(tmp_path):
    def write(span):
        (tmp_path / span).mkdir()
        (tmp_path / span / "a.txt").write_text(f"A word of {span}.\n")

    write("span-1")
    recipe = load_recipe("demo", [f"sources=[{{kind: text, paths: ['{tmp_path}/span-{{SPAN}}/*.txt']}}]"])
    given = compiled(recipe)
    # What was compiled names no span, and has no digest of files.
    assert "span-1" not in str(given) and "span-{SPAN}" in str(given)
    first, again = values(tmp_path, given), values(tmp_path, given)
    assert first == again and "span-1/" in first["CorpusExampleGen_sources"]
    write("span-2")
    later = values(tmp_path, given)
    changed = {key for key in first if first[key] != later[key]}
    assert "span-2/" in later["CorpusExampleGen_sources"] and "CorpusExampleGen_fingerprint" in changed


def test_another_content_of_a_file_that_a_step_reads_cleans_again(tmp_path, corpus):
    (tmp_path / "words.list").write_text("damn\n")
    steps = f"cleaning.steps=[{{kind: bad_words, lists: [{{path: '{tmp_path}/words.list'}}]}}]"
    given = compiled(load_recipe("demo", [of_texts(tmp_path), steps]))
    before = values(tmp_path, given)
    (tmp_path / "words.list").write_text("heck\n")
    after = values(tmp_path, given)
    assert {key for key in before if before[key] != after[key]} == {"Curator_files_digest"}


def test_other_sources_and_another_recipe(tmp_path, shared):
    given = shared[1]
    (tmp_path / "c.jsonl").write_text('{"text": "A word."}\n')
    sources = json.dumps([{"kind": "jsonl", "paths": [f"{tmp_path}/c.jsonl"]}])
    found = values(tmp_path, given, sources=sources)
    assert "c.jsonl" in found["CorpusExampleGen_sources"]
    other = load_recipe("demo", ["seed=7", f"sources={sources}"])
    (tmp_path / "other.yaml").write_text(recipe_to_yaml(other))
    found = values(tmp_path, given, recipe=f"{tmp_path}/other.yaml", steps=9000)
    assert found["ObjectiveValidator_seed"] == 7 and training(found)["steps"] == 9000


def test_a_curation_takes_other_sources_and_another_recipe(tmp_path, corpus):
    given = compiled(corpus, "curate")
    (tmp_path / "c.jsonl").write_text('{"text": "A word."}\n')
    sources = json.dumps([{"kind": "jsonl", "paths": [f"{tmp_path}/c.jsonl"]}])
    assert "c.jsonl" in values(tmp_path, given, sources=sources)["CorpusExampleGen_sources"]
    other = load_recipe("demo", ["cleaning.split.eval_fraction=0.25", of_texts(tmp_path)])
    (tmp_path / "other.yaml").write_text(recipe_to_yaml(other))
    found = values(tmp_path, given, recipe=f"{tmp_path}/other.yaml", overrides="cleaning.steps=[]")
    cleaning = json.loads(found["Curator_cleaning"])
    assert cleaning["split"]["eval_fraction"] == 0.25 and cleaning["steps"] == []


def test_a_task_takes_other_data_another_rate_and_another_recipe(tmp_path):
    write_bundle(tmp_path / "base")
    base, task = f"base: {tmp_path}/base", "task: {kind: classification, labels: [bad, good]}"
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("text,label\na text,good\nanother,bad\n")
    recipe = load_adapting_recipe(
        None,
        [
            f"base={tmp_path}/base",
            f"data={{kind: columns, train: {tmp_path}/a.csv}}",
            "task={kind: classification, labels: [bad, good]}",
        ],
    )
    given = compiled(recipe, "finetune")
    data = json.dumps({"kind": "columns", "train": f"{tmp_path}/b.csv"})
    found = json.loads(values(tmp_path, given, data=data, learning_rate=3e-4)["TaskReporter_recipe"])
    assert found["data"]["train"] == f"{tmp_path}/b.csv"
    assert found["training"]["optimizer"]["learning_rate"] == 3e-4
    lines = [base, task, f"data: {{kind: columns, train: {tmp_path}/b.csv}}", "seed: 7", "epochs: 5"]
    (tmp_path / "task.yaml").write_text("\n".join(lines))
    found = values(tmp_path, given, recipe=f"{tmp_path}/task.yaml", epochs=2.0)
    said = json.loads(found["TaskReporter_recipe"])
    assert (said["seed"], said["epochs"], said["data"]["train"]) == (7, 2.0, f"{tmp_path}/b.csv")


def test_the_labels_of_a_task_are_those_of_its_data_when_it_runs(tmp_path):
    write_bundle(tmp_path / "base")
    data = f"data={{kind: columns, train: {tmp_path}/reviews.csv}}"
    recipe = load_adapting_recipe(None, [f"base={tmp_path}/base", data, "task={kind: classification}"])
    given = compiled(recipe, "finetune", "kubeflow")
    rows = "\n".join(f"text {number},{'good' if number % 2 else 'bad'}" for number in range(40))
    (tmp_path / "reviews.csv").write_text(f"text,label\n{rows}\n")
    found = values(tmp_path, given, epochs=2.0)
    assert json.loads(found["TaskSchemaGen_task"])["labels"] == ["bad", "good"]
    assert json.loads(found["TaskReporter_recipe"])["epochs"] == 2.0


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"steps": -5}, "run-time parameter steps: training.steps: "),
        ({"overrides": "training.stps=5"}, "training.stps: unknown key; did you mean steps?"),
        ({"step": 5}, "no run-time parameter is named step; did you mean steps?"),
        ({"recipe": "bert_minni"}, "did you mean bert_mini?"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, shared, parameters, problem):
    with pytest.raises(RecipeError) as error:
        values(tmp_path, shared[1], **parameters)
    assert problem in str(error.value)


def test_a_recipe_of_another_pipeline_is_refused(tmp_path, shared):
    given = shared[1]
    (tmp_path / "schema.pbtxt").write_text("")
    with pytest.raises(ValueError, match="PinnedSchemaGen_digest, PinnedSchemaGen_schema_file; "):
        values(tmp_path, given, overrides=f"source_schema={tmp_path}/schema.pbtxt")


def test_a_warm_start_is_compiled(tmp_path, shared):
    corpus, given = shared
    with pytest.raises(ValueError, match=r"warm_start: .*WarmStart-model-blessing-resolver"):
        values(tmp_path, given, overrides="warm_start=true")
    warm = corpus.model_copy(update={"warm_start": True})
    found = values(tmp_path, compiled(warm), steps=7)
    assert json.loads(json.loads(found["Trainer_custom_config"])["recipe"])["warm_start"] is True


def test_another_base_is_refused(tmp_path, corpus):
    for name in ("base", "other"):
        write_bundle(tmp_path / name, weights=name)
    recipe = load_recipe("demo", [f"base={tmp_path}/base", of_texts(tmp_path)])
    with pytest.raises(ValueError, match=r"base: .*model"):
        values(tmp_path, compiled(recipe), overrides=f"base={tmp_path}/other")


def test_a_recipe_in_a_bucket_names_files_next_to_it(tmp_path):
    write_bundle(tmp_path / "base")
    (tmp_path / "task.yaml").write_text(
        f"base: {tmp_path}/base\ntask: {{kind: classification}}\ndata: {{kind: columns, train: in/a.csv}}\n"
    )
    (tmp_path / "web.yaml").write_text(
        "name: web\nextends: bert_tiny\nsources: [{kind: text, paths: ['in/*.txt', gs://b/a.txt]}]\n"
        "cleaning: {steps: [{kind: url_lists, block: [{path: bad.txt}]}]}\n"
    )

    def read(kind, name):
        return read_recipe.recipe_of_run(PIPELINES[kind], "", {"recipe": f"file://{tmp_path}/{name}"})

    web, task = read("curate", "web.yaml"), read("finetune", "task.yaml")
    assert web.sources[0].paths == (f"file://{tmp_path}/in/*.txt", "gs://b/a.txt")
    assert web.cleaning.steps[0].block[0].path == f"file://{tmp_path}/bad.txt"
    assert task.data.train == f"file://{tmp_path}/in/a.csv"
    with pytest.raises(RecipeError, match=r"parameter recipe: .*file:.*none\.yaml"):
        read("curate", "none.yaml")
