"""Curates a corpus that is in a bucket, with every artifact there too.

A program for `curate_bucket_test.py`, which gives it a server of S3 in its environment.
"""

import sys

from tests.pipelines.bucket_run import ROOT


def main(metadata: str, recipe: str) -> None:
    """Runs the curation of a recipe, with its metadata in a local file."""
    # Before TFX touches the bucket.
    import tensorflow_io  # noqa: F401
    from tfx.orchestration.local.local_dag_runner import LocalDagRunner

    from firth.pipelines.corpus import create_pipeline
    from firth.recipes import load_recipe

    LocalDagRunner().run(create_pipeline(load_recipe(recipe), ROOT, metadata_path=metadata))


if __name__ == "__main__":
    main(*sys.argv[1:])
