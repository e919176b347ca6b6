"""The pipeline is compiled for Kubeflow with default arguments. Nothing of it runs."""

import json

import pytest

from firth.pipelines import curate, pretrain
from firth.recipes import load_recipe

pytest.importorskip("kfp.pipeline_spec", reason="kfp-pipeline-spec is not installed")


@pytest.mark.parametrize("module", [pretrain, curate])
def test_default_arguments_compile(module, tmp_path):
    from tfx.orchestration.kubeflow.v2.kubeflow_v2_dag_runner import (
        KubeflowV2DagRunner,
        KubeflowV2DagRunnerConfig,
    )

    path = tmp_path / "pipeline.json"
    pipeline = module.create_pipeline(load_recipe("demo"), "gs://no-bucket/root")
    KubeflowV2DagRunner(KubeflowV2DagRunnerConfig(), output_filename=str(path)).run(pipeline, write_out=True)
    tasks = json.loads(path.read_text())["pipelineSpec"]["root"]["dag"]["tasks"]
    assert {component.id for component in pipeline.components} <= {
        name.removesuffix("-model-resolver") for name in tasks
    }
