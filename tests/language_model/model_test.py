"""A language model as a Keras model."""

import logging
import os
import signal
import subprocess
import sys
from typing import ClassVar

import keras
import numpy as np
import pandas
import pytest
import tensorflow as tf

import firth
from firth import storage
from firth.interop.errors import InteropError
from firth.language_model import LanguageModel
from firth.recipes import load_recipe
from firth.tokenizers import BytePairTokenizer
from firth.tokenizers.graph.byte_pieces import byte_pieces
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES
from firth.tuning import AdapterError, TuningError
from tests.exported_model import RECIPE, VOCABULARY, client_of_exported
from tests.generation.cases import eagerly
from tests.interop.hugging_face.checkpoints import checkpoint
from tests.interop.tensorflow import originals
from tests.language_model.small_records import REVIEWS, TEXTS


def test_the_package_is_light_and_complete():
    code = (
        "import sys, firth; heavy = {'tensorflow', 'keras', 'tfx', 'apache_beam'} & sys.modules.keys();"
        "print(firth.__version__, *sorted(heavy)); print(*dir(firth))"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    version, names = made.stdout.splitlines()
    assert version == firth.__version__
    assert {"load", "create", "pretrain", "LanguageModel", "layers", "models", "recipes"} <= {*names.split()}


def test_answers_are_those_of_the_exported_model(bert):
    client = client_of_exported()
    texts = ["the [MASK] sat", "a [MASK]", "[MASK] of [MASK]"]
    with eagerly():
        asked = bert.fill_mask(texts)
    for one, other in zip(asked, client.fill_mask(texts), strict=True):
        for mine, theirs in zip(one, other, strict=True):
            assert [each.piece for each in mine] == [each.piece for each in theirs]
            np.testing.assert_allclose([e.score for e in mine], [e.score for e in theirs], rtol=1e-4)
        assert [len(each) for each in bert.fill_mask("a [MASK]", top_k=1)] == [1]
    vectors = bert.embed([*TEXTS, "a"], batch_size=2)
    np.testing.assert_allclose(vectors, client.embed([*TEXTS, "a"]), atol=1e-5)
    np.testing.assert_allclose(vectors[0], bert.embed(TEXTS[0], batch_size=2), atol=1e-5)


def test_a_folder_of_hugging_face_is_opened_as_the_command_imports_it(tmp_path):
    model = firth.load(checkpoint(tmp_path))
    assert model.source is None and "fill_mask" in model.signatures
    with pytest.raises(InteropError):
        firth.load(checkpoint(tmp_path, model_type="nobody"))
    original = originals.write(tmp_path / "original", originals.random(originals.bert()))
    assert "fill_mask" in firth.load(original).signatures
    head = {"output_weights": np.ones((3, originals.WIDTH), "float32"), "output_bias": np.ones(3, "float32")}
    tuned = originals.write(tmp_path / "tuned", {**originals.random(originals.bert()), **head})
    (answer,) = firth.load(tuned).predict(["a text"])
    assert answer["labels"] == ["LABEL_0", "LABEL_1", "LABEL_2"]


def test_keras_trains_saves_and_loads_it(fresh, tmp_path):
    class Seen(keras.callbacks.Callback):
        epochs: ClassVar[list] = []

        def on_epoch_end(self, epoch, logs=None):
            self.epochs.append(sorted(logs))

    before = [np.array(each) for each in fresh.get_weights()]
    with eagerly():
        fresh.fit(
            tf.data.Dataset.from_tensor_slices(TEXTS),
            epochs=2,
            batch_size=4,
            validation_data=TEXTS[:2],
            callbacks=[Seen()],
            verbose=0,
        )
    rate = fresh.recipe.training.optimizer.learning_rate
    assert type(fresh.optimizer) is keras.optimizers.AdamW
    assert float(fresh.optimizer.learning_rate) == pytest.approx(rate)
    assert len(Seen.epochs) == 2 and {"loss", "mlm_loss", "val_loss"} <= {*Seen.epochs[-1]}
    assert any((one != other).any() for one, other in zip(before, fresh.get_weights()))
    fresh.save(tmp_path / "kept.keras")
    again = firth.load(tmp_path / "kept.keras")
    assert again.compiled and again.recipe == fresh.recipe
    with eagerly():
        np.testing.assert_array_equal(again.embed(TEXTS), fresh.embed(TEXTS))
        fresh.save(tmp_path / "bundle")
        np.testing.assert_array_equal(firth.load(tmp_path / "bundle").embed(TEXTS), fresh.embed(TEXTS))


def test_an_export_warns_of_the_parts_that_do_not_go_along(tmp_path):
    small = ["tokenizer.vocabulary_size=272", "model.layers=1", "model.width=8", "model.attention.heads=1"]
    pieces = [*SPECIAL_PIECES, *byte_pieces(), "th", "the"]
    writer = LanguageModel(load_recipe("gpt2_tiny", small), BytePairTokenizer(pieces))
    with pytest.warns(UserWarning, match="tokenizer"):
        writer.export(tmp_path / "preset", format="keras")


def test_an_own_training_step_and_features_alone(fresh):
    class Own(LanguageModel):
        def train_step(self, features):
            with tf.GradientTape() as tape:
                loss = self.compute_loss(features, None, self(features, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
            return {"loss": loss}

    own = Own(fresh.recipe, fresh.tokenizer, fresh.network)
    own.compile(keras.optimizers.SGD(0.1), run_eagerly=True)
    assert own.fit(TEXTS, batch_size=4, verbose=0).history["loss"][0] > 0
    features = fresh.preprocessor(TEXTS)
    assert features["token_ids"].shape == (4, 6)
    in_graph = next(iter(tf.data.Dataset.from_tensor_slices(TEXTS).batch(4).map(fresh.preprocessor)))
    np.testing.assert_array_equal(in_graph["token_ids"], features["token_ids"])
    with eagerly():
        logits = fresh(features)["mlm"]
    assert logits.shape == (4, 6, RECIPE.tokenizer.vocabulary_size)
    with pytest.raises(ValueError, match="no labels"):
        own.fit(features, verbose=0)
    fresh.preprocessor = None
    with pytest.raises(ValueError, match="preprocessor"):
        fresh.embed("a")
    with eagerly():
        found = fresh.predict({key: each.numpy() for key, each in features.items()}, verbose=0)
    assert found["mlm"].shape[0] == 4


def test_adapters_are_added_merged_saved_and_loaded(fresh, gpt2, tmp_path):
    fresh.save(tmp_path / "base")
    fresh.add_adapter("lora", rank=2)
    for weight in fresh.network.trainable_weights:
        weight.assign(np.random.default_rng(2).normal(size=weight.shape))
    for name in ("bundle", "kept.keras"):
        with pytest.raises(ValueError, match="merge"):
            fresh.save(tmp_path / name)
    fresh.save_adapter(tmp_path / "adapter")
    base = firth.load(tmp_path / "base")
    again = base.load_adapter(tmp_path / "adapter")
    for one, same in zip(fresh.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, same)
    base.backbone.weights[0].assign(base.backbone.weights[0] + 1)
    with pytest.raises(AdapterError, match="other weights"):
        base.load_adapter(tmp_path / "adapter")
    fresh.merge()
    with pytest.raises(ValueError, match="merged"):
        fresh.save_adapter(tmp_path / "no_adapter")
    fresh.save(tmp_path / "bundle")
    with eagerly():
        before = fresh.embed(TEXTS)
        fresh.backbone.enable_lora(2)
        fresh.compile("sgd")
        for weight in fresh.backbone.trainable_weights:
            weight.assign(np.random.default_rng(1).normal(size=weight.shape))
        changed = fresh.embed(TEXTS)
        assert np.abs(changed - before).max() > 1e-3
        with pytest.raises(ValueError, match="merge"):
            fresh.save(tmp_path / "other")
        fresh.merge()
        fresh.save(tmp_path / "other")
        np.testing.assert_allclose(firth.load(tmp_path / "other").embed(TEXTS), changed, atol=1e-4)
    with pytest.raises(TuningError):
        gpt2.add_adapter("adalora", targets=["nothing"])


@pytest.mark.parametrize(
    "texts",
    [
        tuple(TEXTS),
        np.array(TEXTS),
        pandas.Series(TEXTS),
        pandas.DataFrame({"text": TEXTS}),
        [{"text": text} for text in TEXTS],
        tf.constant(TEXTS),
        tf.data.Dataset.from_tensor_slices(TEXTS),
        tf.data.Dataset.from_tensor_slices(TEXTS).batch(3),
        tf.data.Dataset.from_tensor_slices({"text": TEXTS}).batch(2),
    ],
    ids=lambda each: type(each).__name__,
)
def test_texts_come_in_each_form_that_people_have(bert, texts):
    with eagerly():
        assert [each["tokens_read"] for each in bert.predict(texts)] == [3, 3, 4, 3]


def test_the_records_that_are_predicted_name_the_inputs(bert):
    with eagerly():
        assert len(bert.predict(REVIEWS[:2])) == 2
    with eagerly(), pytest.raises(ValueError, match="no 'text'; did you mean txt"):
        bert.predict([{"txt": "a"}])
    with eagerly(), pytest.raises(TypeError, match="None"):
        bert.predict([{"text": "a"}, {"text": None}])


def test_a_task_of_two_texts_is_asked_by_their_names(bert):
    answer = {"text": ["sat"], "answer_start": [8]}
    asked = [
        {"q": "the cat " * (1 + place), "passage": "the cat sat on the mat", "answers": answer}
        for place in range(6)
    ]
    # The answer to the last one is not in its text.
    asked.append({**asked[0], "passage": "on the mat"})
    columns = {"text": "q", "pair": "passage", "overrides": {"sequences.length": 16}}
    with eagerly(), pytest.warns(UserWarning, match=r"1 of 7 records .* train\[6\]: the answer 'sat'"):
        reader = bert.finetune(asked, task="span", epochs=1, verbose=False, **columns)
    question, context = asked[0]["q"], asked[0]["passage"]
    with eagerly():
        found = reader.predict([question], pair=[context])
        for same in (
            reader.predict(asked[:1]),
            reader.predict([{"question": question, "context": context}]),
            reader.predict([{"text": question, "pair": context}]),
            reader.predict([(question, context)]),
            [reader.predict(question, context=context)],
            [reader.predict(question=question, context=context)],
            [reader.predict({"question": question, "context": context})],
        ):
            assert same == found
        for ask, missing in (
            (lambda: reader.predict(question), "context is missing"),
            (lambda: reader.predict(context=context), "no 'question'"),
            (lambda: reader.predict([{"question": question, "text_of": ""}]), "no 'context'"),
        ):
            with pytest.raises(ValueError, match=missing):
                ask()


@pytest.mark.repeated
def test_fit_compiled_by_xla(fresh):
    fresh.compile("adamw", jit_compile=True)
    assert np.isfinite(fresh.fit(TEXTS * 2, batch_size=4, verbose=0).history["loss"]).all()
    # TensorFlow makes a graph for all sizes once it gets batches of another size.
    found = fresh.fit(TEXTS * 2, batch_size=3, validation_split=0.25, verbose=0).history
    assert np.isfinite([*found["loss"], *found["val_loss"]]).all()


def test_another_backend_than_tensorflow_embeds_writes_and_says_what_it_cannot(bert, gpt2, monkeypatch):
    with eagerly():
        expected, written = bert.embed(TEXTS), gpt2.generate(TEXTS, max_new_tokens=5)
    bert.forget_graphs()
    gpt2.forget_graphs()
    # Its steps are called op by op, which all backends can.
    monkeypatch.setattr(keras.backend, "backend", lambda: "torch")
    np.testing.assert_allclose(bert.embed(TEXTS), expected, atol=1e-6)
    with eagerly():
        assert gpt2.generate(TEXTS, max_new_tokens=5) == written
        assert "".join(gpt2.stream(TEXTS[0], max_new_tokens=5)) == written[0]
        ids = gpt2.generate_ids([gpt2.tokenizer([TEXTS[0]])[0].numpy().tolist()], max_new_tokens=5)
        assert gpt2.tokenizer.detokenize(ids)[0].numpy().decode() == written[0].strip()
    for ask in (bert.fill_mask, bert.generate):
        with pytest.raises(ValueError, match=r"KERAS_BACKEND.*embed"):
            ask("a")
    with pytest.raises(ValueError, match=r"beam.*KERAS_BACKEND"):
        gpt2.generate("a", beams=2)
    bert.forget_graphs()
    gpt2.forget_graphs()


def test_ctrl_c_ends_a_training_with_a_model_that_answers(fresh):
    class Press(logging.Handler):
        def emit(self, record):
            if getattr(record, "firth", {}).get("step") == 2:
                os.kill(os.getpid(), signal.SIGINT)

    press = Press()
    logging.getLogger("firth.progress").addHandler(press)
    # A process that a shell has put in the background ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    every_step = {"training.log_every_steps": 1, "examples_per_step": 4}
    try:
        with eagerly(), pytest.warns(UserWarning, match=r"after step \d+ of 16"):
            stopped = fresh.finetune(REVIEWS, epochs=4, overrides=every_step)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        logging.getLogger("firth.progress").removeHandler(press)
        signal.signal(signal.SIGINT, before)
    # The steps of a block are made together.
    assert 2 <= stopped.history.epoch[-1] < 16
    with eagerly():
        assert stopped.predict(["the cat"])[0]["label"] in ("yes", "no")


def test_what_is_frozen_stays_as_it_is(fresh):
    before = [np.array(each) for each in fresh.backbone.weights]
    fresh.backbone.trainable = False
    with pytest.raises(ValueError, match="full trains backbone"):
        fresh.finetune(REVIEWS, method="full")
    with eagerly():
        made = fresh.finetune(REVIEWS, epochs=1, learning_rate=0.1, verbose=False)
    assert made.recipe.method.kind == "head"
    for one, other in zip(before, made.backbone.weights, strict=True):
        np.testing.assert_array_equal(one, np.array(other))
    fresh.backbone.trainable, fresh.backbone.layers[0].trainable = True, False
    with pytest.raises(ValueError, match=fresh.backbone.layers[0].name):
        fresh.finetune(REVIEWS)


@pytest.fixture(scope="module")
def stars(bert):
    """A model that sorts reviews, whose weights no test changes."""
    with eagerly():
        return bert.finetune(REVIEWS, epochs=1, seed=3, verbose=False)


def test_the_same_seed_gives_the_same_weights_whatever_holds_the_records(bert, stars, tmp_path):
    table = pandas.DataFrame(REVIEWS)
    batches = tf.data.Dataset.from_tensor_slices(table.to_dict("list"))
    with eagerly():
        models = [bert.finetune(each, epochs=1, seed=3, verbose=False) for each in (table, batches)]
    made = [each.get_weights() for each in (stars, *models)]
    for other in made[1:]:
        for one, same in zip(made[0], other, strict=True):
            np.testing.assert_array_equal(one, same)
    # The adapter belongs to the weights that the first fine-tuning left, not to those of its base.
    models[0].add_adapter("lora", rank=2)
    models[0].save_adapter(tmp_path / "adapter")
    again = models[1].load_adapter(tmp_path / "adapter")
    np.testing.assert_array_equal(again.get_weights()[-1], models[0].get_weights()[-1])
    with pytest.raises(AdapterError, match="other weights"):
        bert.load_adapter(tmp_path / "adapter")


def test_records_of_one_label_are_evaluated_and_those_of_an_unknown_one_are_named(stars):
    with eagerly():
        stars.compile("sgd")
        with pytest.warns(UserWarning, match=r"1 of 3 .* x\[1\]: .*'maybe'.* no, yes"):
            assert stars.evaluate(TEXTS[:3], ["no", "maybe", "no"], verbose=0)[0] > 0
        with pytest.raises(ValueError, match=r"^x: none .*'maybe'"):
            stars.fit(["a"], ["maybe"], verbose=0)


def test_the_same_folder_resumes_and_does_not_mix_records(bert, tmp_path):
    options = {"folder": tmp_path / "work", "epochs": 1, "verbose": False}
    with eagerly():
        first = bert.finetune(REVIEWS, **options)
        changed = {path.stat().st_mtime_ns for path in tmp_path.glob("work/checkpoints/*/*/*.index")}
        again = bert.finetune(REVIEWS, **options)
        bert.finetune(REVIEWS[:8], **options)
    assert {path.stat().st_mtime_ns for path in tmp_path.glob("work/checkpoints/*/*/*.index")} >= changed
    for one, same in zip(first.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, same)
    report = storage.read_json(tmp_path / "work" / "rows" / "report.json")
    assert sum(each["read"] for each in report["splits"].values()) == 8


def test_a_new_model_takes_a_tokenizer(bert):
    made = firth.create("gpt2_tiny", tokenizer=bert, overrides={"model.layers": 1})
    assert made.recipe.tokenizer.vocabulary_size == len(VOCABULARY)
    assert firth.create(RECIPE).preprocessor is None
