"""One recipe for every Beam runner: its pipelines are built for each, as far as no cluster is needed."""

import json

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions, PortableOptions
from apache_beam.portability.api import beam_runner_api_pb2
from apache_beam.runners.dataflow.internal.apiclient import get_container_image_from_options
from apache_beam.runners.runner import create_runner
from apache_beam.transforms.environments import (
    DockerEnvironment,
    ProcessEnvironment,
    python_sdk_dependencies,
)
from tfx.dsl.compiler.compiler import Compiler
from tfx.orchestration.local.local_dag_runner import LocalDagRunner  # noqa: F401  (loads what compiling needs)

from firth.corpus import ReadSources, count_corpus_words, curate, make_sequences, write_outputs
from firth.corpus.io.records import write_records
from firth.pipelines.corpus import create_pipeline
from firth.recipes import Cleaning, ParquetOutput, TextSource, load_recipe
from firth.recipes.tokenizers.tokenizer import Sequences, WordPieceTokenizerConfig
from tests.corpus.helpers import document
from tests.corpus.quality.models import fasttext_step, scikit_learn_step
from tests.corpus.workers.wheels import write_wheel

OPTIONS = {
    "Dataflow": [
        "--runner=DataflowRunner",
        "--project=no-project",
        "--region=europe-west1",
        "--temp_location=gs://no-bucket/temp",
        "--job_name=firth",
    ],
    "Flink": ["--runner=FlinkRunner", "--flink_master=localhost:8081", "--environment_type=LOOPBACK"],
    "Spark": ["--runner=SparkRunner", "--spark_master_url=spark://localhost:7077"],
}


IMAGE = "me/firth-beam:1"
DOCKER = ["--environment_type=DOCKER", f"--environment_config={IMAGE}"]
COMMAND = "/opt/firth/bin/firth-beam-worker"
PROCESS = ["--environment_type=PROCESS", f"--environment_config={json.dumps({'command': COMMAND})}"]


class Translated(Exception):
    """The pipeline was translated to Beam's portable form, which is what a runner is sent."""


class NotRun(beam.Pipeline):
    def run(self, test_runner_api="AUTO"):
        raise Translated(self.to_runner_api())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    write_records(f"{folder}/in", 0, 1, [document("Call me Ishmael.").to_example()])
    (folder / "a.txt").write_text("Call me Ishmael.")
    (folder / "hosts.list").write_text("example.com")
    return folder


@pytest.fixture
def no_bucket(monkeypatch):
    """Keeps Dataflow's options from asking for the bucket, which is nowhere."""
    monkeypatch.setattr(
        GoogleCloudOptions, "_warn_if_soft_delete_policy_enabled", lambda *_: None, raising=False
    )


# What a kind of step cannot be without.
BENCHMARK = {"kind": "text", "name": "held", "paths": ["{folder}/a.txt"]}
NEEDED = {
    "bad_words": {"lists": [{"language": "en", "path": "{folder}/a.txt"}]},
    "classifier": {"reference_files": [{"kind": "text", "paths": ["{folder}/a.txt"]}]},
    "dataset_duplicates": {"benchmarks": [BENCHMARK]},
    "decontaminate": {"benchmarks": [BENCHMARK]},
    "domain_rules": {"each_domain": {"max_documents": 9}},
    "near_duplicates": {"verification": {}},
    "url_lists": {"block": [{"path": "{folder}/hosts.list"}]},
}


def every_step(folder):
    """A cleaning of all kinds of steps, whose files are in a folder."""
    kinds = Cleaning.model_json_schema()["properties"]["steps"]["items"]["discriminator"]["mapping"]
    needed = NEEDED | {
        each.kind: json.loads(each.to_json()) for each in (fasttext_step(), scikit_learn_step(folder))
    }
    steps = json.dumps([{"kind": kind, **needed.get(kind, {})} for kind in kinds])
    return Cleaning.model_validate_json(f'{{"steps": {steps.replace("{folder}", str(folder))}}}')


# Beam's portable form is the same for each.
@pytest.mark.repeated
@pytest.mark.parametrize(
    "runner", ["Dataflow", *(pytest.param(each, marks=pytest.mark.repeated) for each in ("Flink", "Spark"))]
)
@pytest.mark.usefixtures("no_bucket")
def test_every_pipeline_is_translated_for_the_runner(runner, folder):

    def make_pipeline():
        return NotRun(options=PipelineOptions(OPTIONS[runner]))

    def read():
        with make_pipeline() as pipeline:
            _ = pipeline | ReadSources([TextSource(kind="text", paths=(f"{folder}/a.txt",))], str(folder))

    splits = {"train": f"{folder}/train", "eval": f"{folder}/eval"}
    patterns = dict.fromkeys(splits, f"{folder}/in/*")
    cleaning = every_step(folder)
    pipelines = {
        "read": read,
        "clean": lambda: curate(make_pipeline, str(folder), patterns["train"], cleaning, splits, str(folder)),
        "give out": lambda: write_outputs(
            make_pipeline, patterns, [ParquetOutput(kind="parquet")], f"{folder}/out", {}
        ),
        "count": lambda: count_corpus_words(
            make_pipeline, patterns["train"], WordPieceTokenizerConfig(), str(folder)
        ),
        "pack": lambda: make_sequences(
            make_pipeline, patterns, "tokenizer", Sequences(length=32), 3, 29, splits, str(folder)
        ),
    }
    for name, build in pipelines.items():
        with pytest.raises(Translated) as translated:
            build()
        proto = translated.value.args[0]
        assert len(proto.components.transforms) > 5, name


@pytest.mark.parametrize("runner", OPTIONS)
def test_the_options_reach_the_compiled_tfx_pipeline(runner, folder):
    recipe = load_recipe("demo", [f"sources=[{{kind: text, paths: [{folder}/a.txt]}}]"])
    assert recipe.cleaning == Cleaning()
    pipeline = create_pipeline(recipe, str(folder / "p"), beam_pipeline_args=OPTIONS[runner])
    compiled = Compiler().compile(pipeline)
    assert len(compiled.nodes) == 8
    assert all(option.encode() in compiled.SerializeToString() for option in OPTIONS[runner])


def environment_of(options):
    """Returns the environment of workers that a runner's jobs name, which stages packages to be sent."""
    (runner,) = [option.removeprefix("--runner=") for option in options if option.startswith("--runner=")]
    said = PipelineOptions(options).view_as(PortableOptions)
    if runner == "DataflowRunner":
        # As its `run_pipeline` makes it, before it asks the service.
        image, packages = get_container_image_from_options(said), python_sdk_dependencies(said)
        return DockerEnvironment.from_container_image(image, artifacts=packages)
    return create_runner(runner).default_environment(said)


@pytest.mark.parametrize(
    ("runner", "more", "kind", "payload"),
    [
        ("Dataflow", [f"--sdk_container_image={IMAGE}"], DockerEnvironment, IMAGE),
        ("Flink", PROCESS, ProcessEnvironment, COMMAND),
        pytest.param("Spark", DOCKER, DockerEnvironment, IMAGE, marks=pytest.mark.repeated),
    ],
)
@pytest.mark.usefixtures("no_bucket")
def test_jobs_name_the_workers_and_the_packages_that_are_sent(runner, more, kind, payload, folder):
    (folder / "mine.txt").write_text("tiny_words==1.0\n")
    wheel = write_wheel(folder)
    packages = [f"--extra_package={wheel}", f"--requirements_file={folder}/mine.txt"]
    options = [*OPTIONS[runner], *more, *packages, "--requirements_cache=skip"]
    environment = environment_of(options)
    assert isinstance(environment, kind)

    class WithEnvironment(NotRun):
        def run(self, test_runner_api="AUTO"):
            raise Translated(self.to_runner_api(default_environment=environment))

    made = WithEnvironment(options=PipelineOptions(options))
    with pytest.raises(Translated) as translated, made as pipeline:
        _ = pipeline | ReadSources([TextSource(kind="text", paths=(f"{folder}/a.txt",))], str(folder))
    (found,) = translated.value.args[0].components.environments.values()
    assert payload.encode() in found.payload
    sent = {
        beam_runner_api_pb2.ArtifactStagingToRolePayload.FromString(each.role_payload).staged_name
        for each in found.dependencies
    }
    assert sent >= {"requirements.txt", "extra_packages.txt", wheel.name}
