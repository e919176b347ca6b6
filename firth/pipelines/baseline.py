"""Which blessed model a new one is evaluated beside."""

import json
import os

from ml_metadata.metadata_store import MetadataStore
from tfx.components.evaluator import constants
from tfx.dsl.components.common import resolver
from tfx.dsl.io import fileio
from tfx.types.artifact import Artifact
from tfx.utils import path_utils

MODEL, BLESSING, CURRENT = "model", "model_blessing", "current_model"


class LatestComparableModelStrategy(resolver.ResolverStrategy):
    """Resolves the latest blessed model that reads the same tokens as the current one.

    TFX's LatestBlessedModelStrategy would give a finished run its own model as the baseline of the next,
    so that nothing would be cached, and models of another vocabulary, whose figures cannot be compared.
    """

    def resolve_artifacts(
        self, store: MetadataStore, input_dict: dict[str, list[Artifact]]
    ) -> dict[str, list[Artifact]]:
        """Returns at most one model under `model`, its blessing beside it, and the current model as given."""
        current = input_dict[CURRENT]
        blessings = {
            blessing.get_int_custom_property(constants.ARTIFACT_PROPERTY_CURRENT_MODEL_ID_KEY): blessing
            for blessing in input_dict[BLESSING]
            if blessing.get_int_custom_property(constants.ARTIFACT_PROPERTY_BLESSED_KEY)
        }
        current_ids = {artifact.id for artifact in current}
        digests = {tokenizer_digest(artifact) for artifact in current}
        for model in sorted(input_dict[MODEL], key=lambda artifact: artifact.id, reverse=True):
            if model.id in blessings and model.id not in current_ids and tokenizer_digest(model) in digests:
                return {MODEL: [model], BLESSING: [blessings[model.id]], CURRENT: current}
        return {MODEL: [], BLESSING: [], CURRENT: current}


def tokenizer_digest(model: Artifact) -> str | None:
    """Returns the digest of the tokenizer that an exported model carries; None where it is gone."""
    directory = path_utils.serving_model_path(model.uri)
    path = os.path.join(directory, "assets.extra", "firth.json")
    if not fileio.exists(path):
        return None
    with fileio.open(path) as file:
        return json.load(file)["tokenizer_digest"]
