"""TFX's BulkInferrer asks a task's model about records of raw text, as any ExampleGen writes them."""

import numpy as np
import pytest
import tensorflow as tf
from tfx.components import BulkInferrer
from tfx.components.util import examples_utils
from tfx.proto import bulk_inferrer_pb2, example_gen_pb2
from tfx.types import artifact_utils, channel_utils, standard_artifacts

from firth import storage
from firth.corpus.io.records import read_records, write_records
from firth.models import build_model
from firth.recipes.tasks.classification import Classification, Regression
from firth.serving import Client
from firth.serving.saved_model import PREDICT_EXAMPLES, _signatures, export
from firth.serving.served_model import Served
from firth.serving.signature import describe_on_examples
from firth.tokenizers import WordPieceTokenizer
from tests.components.components_corpus_test import run
from tests.exported_model import VOCABULARY, first_signature_alone
from tests.generation.cases import eagerly
from tests.reports.task_pages.records import adapting_recipe

PAIRS = [
    ("the cat sat .", "the mat"),
    ("a word by the company", "you know"),
    ("it keeps", "of mat , the cat"),
]


CLASSES = Classification(labels=("no", "yes"), pair=True)


def served(task=CLASSES):
    """A model whose export has the signature of its task."""
    recipe = adapting_recipe(task=task)
    tf.keras.utils.set_random_seed(1)
    return Served(build_model(recipe), WordPieceTokenizer(VOCABULARY), recipe)


def serialized(**texts):
    features = {
        name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[text.encode()]))
        for name, text in texts.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


@pytest.mark.repeated
def test_bulk_inferrer_answers_as_the_signature_does(tmp_path):
    model, made = standard_artifacts.Model(), served()
    model.uri = str(tmp_path / "exported")
    with first_signature_alone():
        export(made.model, made.tokenizer, made.recipe, None, f"{model.uri}/Format-Serving")
    examples = standard_artifacts.Examples()
    examples.uri, examples.split_names = str(tmp_path / "records"), artifact_utils.encode_split_names(["new"])
    examples_utils.set_payload_format(examples, example_gen_pb2.FORMAT_TF_EXAMPLE)
    records = [serialized(text=text, pair=pair, id=str(n)) for n, (text, pair) in enumerate(PAIRS)]
    write_records(artifact_utils.get_split_uri([examples], "new"), 0, 1, records)
    outputs = {"label": "label", "probability": "probability"}
    columns = [
        bulk_inferrer_pb2.OutputColumnsSpec(
            predict_output=bulk_inferrer_pb2.PredictOutput(
                output_columns=[
                    bulk_inferrer_pb2.PredictOutputCol(output_key=key, output_column=f"predicted_{name}")
                    for key, name in outputs.items()
                ]
            )
        )
    ]
    inferrer = BulkInferrer(
        examples=channel_utils.as_channel([examples]),
        model=channel_utils.as_channel([model]),
        model_spec=bulk_inferrer_pb2.ModelSpec(model_signature_name=[PREDICT_EXAMPLES]),
        output_example_spec=bulk_inferrer_pb2.OutputExampleSpec(output_columns_spec=columns),
    )
    made = run(inferrer, {"examples": examples, "model": model}, tmp_path / "out")["output_examples"]
    (path,) = storage.glob(f"{artifact_utils.get_split_uri([made], 'new')}/*")
    found = {}
    for each in read_records(path):
        features = tf.train.Example.FromString(each).features.feature
        found[int(features["id"].bytes_list.value[0])] = (
            features["predicted_label"].bytes_list.value[0].decode(),
            features["predicted_probability"].float_list.value[0],
        )
    asked = Client(f"{model.uri}/Format-Serving").ask(
        "classify_pair", [text for text, _ in PAIRS], pair=[pair for _, pair in PAIRS]
    )
    assert {number: label for number, (label, _) in found.items()} == {
        number: each["label"] for number, each in enumerate(asked)
    }
    for number, each in enumerate(asked):
        assert found[number][1] == pytest.approx(each["probability"], abs=1e-5)


@eagerly()
def test_records_are_answered_as_their_texts_are():
    signatures = _signatures(served(), None, lambda function: function)
    texts, pairs = (tf.constant(each) for each in zip(*PAIRS))
    expected = signatures["classify_pair"](texts, pairs)
    records = [serialized(text=text, pair=pair) for text, pair in PAIRS]
    found = signatures[PREDICT_EXAMPLES](tf.constant(records))
    assert found.keys() == expected.keys()
    assert found["label"][:, 0].numpy().tolist() == expected["label"].numpy().tolist()
    np.testing.assert_allclose(found["probability"][:, 0], expected["probability"], atol=1e-5)
    np.testing.assert_allclose(found["probabilities"], expected["probabilities"], atol=1e-5)
    classified = signatures["classify_examples"](inputs=tf.constant(records))
    assert classified["classes"].numpy().tolist() == [[b"no", b"yes"]] * len(PAIRS)
    np.testing.assert_allclose(classified["scores"], expected["probabilities"], atol=1e-5)
    assert classified.keys() == {"classes", "scores"} and "regress_examples" not in signatures
    for name in (PREDICT_EXAMPLES, "classify_examples"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="pair"):
            signatures[name](tf.constant([serialized(text="the cat")]))


@eagerly()
def test_numbers_of_records_are_given_as_tf_serving_regresses():
    signatures = _signatures(served(Regression()), None, lambda function: function)
    texts = [text for text, _ in PAIRS]
    found = signatures["regress_examples"](inputs=tf.constant([serialized(text=each) for each in texts]))
    assert found.keys() == {"outputs"} and "classify_examples" not in signatures
    expected = signatures["regress"](tf.constant(texts))["value"][:, tf.newaxis]
    np.testing.assert_allclose(found["outputs"], expected, atol=1e-5)
    described = describe_on_examples("regress_examples", signatures["regress_examples"])
    assert described["inputs"].keys() == {"inputs"} and described["outputs"]["outputs"]["dtype"] == "float32"
