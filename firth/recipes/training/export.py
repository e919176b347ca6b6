"""Settings of the served model."""

from typing import Literal

import pydantic

from firth.recipes.base.recipe_type import Config

Pooling = Literal["mean", "mean_with_special", "first", "cls"]


class Export(Config):
    """Settings of the exported signatures.

    Attributes:
        top_k: Number of candidates that `fill_mask` returns for each `[MASK]`.
        pooling: Way in which `embed` makes one vector of a text: the mean over its tokens; the mean over
            those and the special ones around them, as sentence-transformers takes it; the first token's own
            state, which is its `cls_token`; or the pooled `[CLS]`.
        warmup_requests: Number of requests of each signature that TF Serving replays when it loads the model.
    """

    top_k: int = pydantic.Field(default=5, ge=1)
    pooling: Pooling = "mean"
    warmup_requests: int = pydantic.Field(default=2, ge=0)
