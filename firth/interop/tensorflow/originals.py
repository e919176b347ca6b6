"""The originals, in the order in which a checkpoint's names are compared with theirs."""

from firth.interop.tensorflow.decoders import DECODERS
from firth.interop.tensorflow.encoders import ENCODERS
from firth.interop.tensorflow.model_garden import MODEL_GARDEN
from firth.interop.tensorflow.model_garden_electra import MODEL_GARDEN_ELECTRA
from firth.interop.tensorflow.model_garden_first import MODEL_GARDEN_FIRST
from firth.interop.tensorflow.model_garden_t5 import MODEL_GARDEN_T5
from firth.interop.tensorflow.model_garden_xlnet import MODEL_GARDEN_XLNET
from firth.interop.tensorflow.numbered_layers import NUMBERED
from firth.interop.tensorflow.original import Original

# Those that `--format tensorflow` writes.
PAPERS: tuple[Original, ...] = (*ENCODERS, *DECODERS)
ORIGINALS: tuple[Original, ...] = (
    *PAPERS,
    # Before those whose layers its networks have.
    *MODEL_GARDEN_ELECTRA,
    MODEL_GARDEN,
    *NUMBERED,
    MODEL_GARDEN_FIRST,
    MODEL_GARDEN_T5,
    MODEL_GARDEN_XLNET,
)
