"""Which tasks of a compiled pipeline an orchestrator would take from its cache. No command runs."""

import pathlib

import pytest

pytest.importorskip("kfp.pipeline_spec", reason="kfp-pipeline-spec is not installed")

from firth.pipelines.orchestrators.compiling import Settings, compile_pipeline
from firth.pipelines.orchestrators.read_recipe import values_of_run
from firth.pipelines.orchestrators.run_time import READER
from firth.recipes import load_recipe
from tests.pipelines.bucket_server import OVERRIDES, STEPS
from tests.pipelines.orchestrators.graph_checks import read_document
from tests.pipelines.orchestrators.task_runner import TaskRunner


class ReaderOnly(TaskRunner):
    """Says what the reader would say, and of other tasks that they have made their artifacts."""

    def _said(self, name, container, executor_input, made):
        self.ran.append(name)
        values = values_of_run(executor_input["inputs"]["parameterValues"]) if name == READER else {}
        return {"artifacts": made, "parameterValues": values}


def ran(kind, *options, cache=None, **parameters):
    root = "s3://artifacts/run"
    document = compile_pipeline(
        load_recipe("demo", [*OVERRIDES, *options]), Settings(kind, "kubeflow", "me/firth:1", root)
    )
    tasks = ReaderOnly(*read_document(document), root, None, {}, pathlib.Path(), cache=cache)
    tasks.run(**parameters)
    assert set(tasks.outputs) == set(tasks.spec.root.dag.tasks)
    return tasks


@pytest.fixture(scope="module")
def cache():
    tasks = ran("pretrain", "training.steps=100000", steps=float(STEPS))
    assert set(tasks.ran) == set(tasks.outputs)
    return tasks.cache


def test_a_curation_has_the_tasks_that_pretraining_has_run(cache):
    tasks = ran("curate", cache=cache)
    assert tasks.ran == [READER] and len(tasks.outputs) == 9


def test_a_changed_key_runs_what_depends_on_it(cache):
    tasks = ran("curate", "cleaning.split.eval_fraction=0.2", cache=cache)
    assert sorted(tasks.ran) == ["CorpusReporter", "CorpusValidator", "Curator", READER]
    tasks = ran("pretrain", "training.steps=100000", cache=cache, steps=9.0)
    last = ["Evaluator", "Pusher", READER, "Reporter", "ServingValidator", "Trainer"]
    assert sorted(tasks.ran) == last
