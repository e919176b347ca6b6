"""Model Garden's ELECTRA: object checkpoints of `ElectraPretrainer`, whose layers are numbered."""

import dataclasses
import re
from collections.abc import Iterable

from firth.interop.tensorflow.checkpoint import Checkpoint
from firth.interop.tensorflow.encoders import ELECTRA, GENERATOR
from firth.interop.tensorflow.model_garden import MODEL_GARDEN, read_yaml
from firth.interop.tensorflow.names import Names, dense
from firth.interop.tensorflow.numbered_layers import BLOCK, NumberedLayers
from firth.interop.tensorflow.original import VALUE
from firth.recipes.objectives.masking import ReplacedTokenDetection

_GENERATOR = "generator_network/"
_TABLE, _TABLE_OF_HEAD = "encoder/_embedding_layer/embeddings", "masked_lm/embedding_table"


@dataclasses.dataclass(frozen=True)
class ElectraNetwork(NumberedLayers):
    """One of the two networks of an `ElectraPretrainer`."""

    def scope_in(self, names: Iterable[str]) -> str | None:
        """Returns the scope before the network's layers; None if the checkpoint has no two networks."""
        blocks = [BLOCK.fullmatch(name.removesuffix(VALUE)) for name in names]
        scopes = sorted({block[1] for block in blocks if block})
        of_generator = [scope for scope in scopes if scope.endswith(_GENERATOR)]
        others = [scope for scope in scopes if scope not in of_generator]
        own = of_generator if self.part == GENERATOR.part else others
        return next(iter(own), None) if of_generator else None

    def name_tensors(self, checkpoint: Checkpoint, scope: str) -> None:
        """Gives the network's layers the names of `BertEncoderV2`, and the one table that of its own."""
        found = [re.fullmatch(rf"(.*?){_GENERATOR}.*", name) for name in checkpoint.names]
        outer = next(each[1] for each in found if each)
        super().name_tensors(checkpoint, scope)
        names = {name.removeprefix(outer): name for name in checkpoint.names}
        tables = [name for name in names if name.endswith("layer_with_weights-0/embeddings")]
        # Both networks have one table, which is saved once.
        for table in (_TABLE_OF_HEAD, *tables):
            if _TABLE not in names and table in names:
                names[_TABLE] = names[table]
        checkpoint.take_names(names)


_DISCRIMINATOR = ElectraNetwork(
    **{
        **vars(MODEL_GARDEN),
        "title": "ElectraPretrainer of Model Garden",
        "family": dataclasses.replace(ELECTRA.family, task_heads=()),
        "names": Names(
            (
                *MODEL_GARDEN.names.rows,
                *dense("discriminator_projection", "discriminator_predictions.dense"),
                *dense("discriminator_head", "discriminator_predictions.dense_prediction"),
            )
        ),
        "files": ("*.yaml",),
        "read": lambda path: read_yaml(path, "discriminator_encoder"),
        "part": ELECTRA.part,
        "objective": lambda checkpoint, model, objective: ReplacedTokenDetection(),
        "task_names": lambda checkpoint: {},
    }
)
MODEL_GARDEN_ELECTRA = (
    _DISCRIMINATOR,
    dataclasses.replace(
        _DISCRIMINATOR,
        title="a generator of Model Garden's ElectraPretrainer",
        family=GENERATOR.family,
        read=lambda path: read_yaml(path, "generator_encoder"),
        part=GENERATOR.part,
        objective=GENERATOR.objective,
    ),
)
