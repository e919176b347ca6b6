"""Runs a recipe with every artifact in a bucket, and lists the bucket's objects.

A program for `pretrain_bucket_test.py`, which gives it a server of S3 in its environment.
"""

import json
import pathlib
import sys

BUCKET = "artifacts"
ROOT = f"s3://{BUCKET}/run"


def main(place: str, *overrides: str) -> None:
    """Runs the recipe `demo`, changed as given, with its metadata in a local folder."""
    import boto3  # Only where the extra for buckets is installed.

    # Before TFX touches the bucket.
    import tensorflow_io  # noqa: F401
    from tfx.orchestration.local.local_dag_runner import LocalDagRunner

    from firth.models import load_model
    from firth.pipelines.pretrain import create_pipeline
    from firth.recipes import load_recipe
    from firth.serving import Client
    from firth.storage import glob
    from firth.training import read_history

    folder = pathlib.Path(place)
    client = boto3.client("s3")
    client.create_bucket(Bucket=BUCKET)
    recipe = load_recipe("demo", overrides)
    LocalDagRunner().run(create_pipeline(recipe, ROOT, metadata_path=str(folder / "metadata.sqlite")))
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix="run/")
    objects = {each["Key"].removeprefix("run/"): each["Size"] for page in pages for each in page["Contents"]}
    (model,) = glob(f"{ROOT}/Trainer/model/*/bundle")
    (model_run,) = glob(f"{ROOT}/Trainer/model_run/*")
    found = {
        "objects": objects,
        "width": load_model(model).backbone.width,
        "steps": [line["step"] for line in read_history(model_run)],
        "answers": len(Client(f"{ROOT}/serving").fill_mask(["Returns the [MASK] of a list."])[0][0]),
    }
    (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
