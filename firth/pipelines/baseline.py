"""Chooses the blessed model that a new one is compared with."""

import os
from typing import Any

from ml_metadata.metadata_store import MetadataStore
from tfx.components.evaluator import constants
from tfx.dsl.components.common import resolver
from tfx.types.artifact import Artifact
from tfx.utils import path_utils

from firth import storage

MODEL, BLESSING, CURRENT = "model", "model_blessing", "current_model"


class LatestComparableModelStrategy(resolver.ResolverStrategy):
    """Resolves the latest blessed model that reads the same rows as the current one.

    TFX's LatestBlessedModelStrategy would give a finished run its own model as the baseline of the next, so
    that nothing would be cached, and models of another vocabulary or row length, which cannot be compared.
    """

    def resolve_artifacts(
        self, store: MetadataStore, input_dict: dict[str, list[Artifact]]
    ) -> dict[str, list[Artifact]]:
        """Returns at most one model under `model`, its blessing, and the current model as it was given."""
        current = input_dict[CURRENT]
        blessings = {
            blessing.get_int_custom_property(constants.ARTIFACT_PROPERTY_CURRENT_MODEL_ID_KEY): blessing
            for blessing in input_dict[BLESSING]
            if blessing.get_int_custom_property(constants.ARTIFACT_PROPERTY_BLESSED_KEY)
        }
        current_ids = {artifact.id for artifact in current}
        readable = [what_it_reads(artifact) for artifact in current]
        for model in sorted(input_dict[MODEL], key=lambda artifact: artifact.id, reverse=True):
            if model.id in blessings and model.id not in current_ids and what_it_reads(model) in readable:
                return {MODEL: [model], BLESSING: [blessings[model.id]], CURRENT: current}
        return {MODEL: [], BLESSING: [], CURRENT: current}


def what_it_reads(model: Artifact) -> tuple[Any, ...] | None:
    """Returns the tokenizer, the rows, and the objective or task of an exported model.

    It is None if the model's folder was removed.
    """
    path = os.path.join(path_utils.serving_model_path(model.uri), "assets.extra", "firth.json")
    about = storage.read_json(path)
    if about is None:
        return None
    recipe = about["recipe"]
    return about["tokenizer_digest"], recipe["sequences"], recipe.get("objective"), recipe.get("task")
