"""The pipeline is compiled for Kubeflow with default arguments. Nothing of it runs."""

import json

import pytest

from firth.pipelines import curate, pretrain
from firth.recipes import load_recipe
from tests.recipes.bundles import write_bundle

pytest.importorskip("kfp.pipeline_spec", reason="kfp-pipeline-spec is not installed")


@pytest.mark.parametrize("module", [pretrain, curate])
@pytest.mark.parametrize("has_base", [False, True])
def test_default_arguments_compile(module, has_base, tmp_path):
    from tfx.orchestration.kubeflow.v2.kubeflow_v2_dag_runner import (
        KubeflowV2DagRunner,
        KubeflowV2DagRunnerConfig,
    )

    path = tmp_path / "pipeline.json"
    write_bundle(tmp_path / "minilm")
    recipe = load_recipe("demo", [f"base={tmp_path}/minilm"] if has_base else [])
    pipeline = module.create_pipeline(recipe, "gs://no-bucket/root")
    KubeflowV2DagRunner(KubeflowV2DagRunnerConfig(), output_filename=str(path)).run(pipeline, write_out=True)
    tasks = json.loads(path.read_text())["pipelineSpec"]["root"]["dag"]["tasks"]
    assert {component.id for component in pipeline.components} <= {
        name.removesuffix("-model-resolver") for name in tasks
    }
