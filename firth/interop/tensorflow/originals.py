"""The originals, in the order in which a checkpoint's names are compared with theirs."""

from firth.interop.tensorflow.decoders import DECODERS
from firth.interop.tensorflow.encoders import ENCODERS
from firth.interop.tensorflow.model_garden import MODEL_GARDEN
from firth.interop.tensorflow.model_garden_t5 import MODEL_GARDEN_T5
from firth.interop.tensorflow.numbered_layers import NUMBERED
from firth.interop.tensorflow.original import Original

# Those that `--format tensorflow` writes.
PAPERS: tuple[Original, ...] = (*ENCODERS, *DECODERS)
ORIGINALS: tuple[Original, ...] = (*PAPERS, MODEL_GARDEN, *NUMBERED, MODEL_GARDEN_T5)
