"""Model Garden's BERT of the branch of TensorFlow 2.0, whose model is one layer of a functional model."""

import dataclasses

from firth.interop.tensorflow.encoders import BERT
from firth.interop.tensorflow.names import Name, Names, dense, norm

_EMBEDDINGS, _LAYER, _HEAD = "bert/embedding_postprocessor", "bert/encoder/layers/{n}", "layer_with_weights-1"
_TABLE, _PUBLISHED = "bert/embedding_lookup/embeddings", "bert.encoder.layer.{n}"
_NAMES = Names(
    (
        Name(_TABLE, "bert.embeddings.word_embeddings.weight"),
        Name(f"{_EMBEDDINGS}/position_embeddings", "bert.embeddings.position_embeddings.weight"),
        Name(f"{_EMBEDDINGS}/type_embeddings", "bert.embeddings.token_type_embeddings.weight"),
        *norm(f"{_EMBEDDINGS}/output_layer_norm", "bert.embeddings.LayerNorm"),
        *dense(f"{_LAYER}/attention_layer/{{w}}_dense", f"{_PUBLISHED}.attention.self.{{w}}"),
        *dense(f"{_LAYER}/attention_output_dense", f"{_PUBLISHED}.attention.output.dense"),
        *norm(f"{_LAYER}/attention_layer_norm", f"{_PUBLISHED}.attention.output.LayerNorm"),
        *dense(f"{_LAYER}/intermediate_dense", f"{_PUBLISHED}.intermediate.dense"),
        *dense(f"{_LAYER}/output_dense", f"{_PUBLISHED}.output.dense"),
        *norm(f"{_LAYER}/output_layer_norm", f"{_PUBLISHED}.output.LayerNorm"),
        *dense("bert/pooler_transform", "bert.pooler.dense"),
        *dense(f"{_HEAD}/lm_dense", "cls.predictions.transform.dense"),
        *norm(f"{_HEAD}/lm_layer_norm", "cls.predictions.transform.LayerNorm"),
        Name(f"{_HEAD}/predictions.Soutput_bias", "cls.predictions.bias"),
        Name(f"{_HEAD}/output_weights", "cls.seq_relationship.weight"),
        Name(f"{_HEAD}/output_bias", "cls.seq_relationship.bias"),
        *dense(_HEAD, "classifier"),
        *dense(f"{_HEAD}/final_dense", "qa_outputs"),
    )
)
MODEL_GARDEN_FIRST = dataclasses.replace(
    BERT,
    title="BertModel of Model Garden's first release",
    family=dataclasses.replace(
        BERT.family,
        task_heads=tuple(
            # Outputs are counted by their biases, since kernels are [width, outputs].
            dataclasses.replace(each, outputs=each.outputs.replace(".weight", ".bias"))
            for each in BERT.family.task_heads
        ),
    ),
    base="",
    anchor="encoder/layers/0/attention_layer/query_dense/kernel",
    names=_NAMES,
    root="bert/",
    outside="model/",
    # A pre-trainer's head has the table too, and a checkpoint may hold it there alone.
    fallbacks={_TABLE: f"{_HEAD}/embedding_table"},
)
