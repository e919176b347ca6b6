"""The families that are brought in and out, by the `model_type` of their configuration."""

from firth.interop.hugging_face.decoder_families import GPT, GPT2, LLAMA, QWEN_3
from firth.interop.hugging_face.encoder_decoder_families import BART, T5
from firth.interop.hugging_face.encoder_families import (
    ALBERT,
    BERT,
    DEBERTA,
    DISTILBERT,
    ELECTRA,
    ROBERTA,
    XLNET,
)
from firth.interop.hugging_face.family import Family

# In the order in which they are asked for a model that is brought out.
FAMILIES: dict[str, Family] = {
    each.model_type: each
    for each in (
        BERT,
        ROBERTA,
        ALBERT,
        ELECTRA,
        DEBERTA,
        DISTILBERT,
        XLNET,
        GPT2,
        GPT,
        LLAMA,
        QWEN_3,
        T5,
        BART,
    )
}
