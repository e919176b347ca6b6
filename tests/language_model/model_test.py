"""A language model as a Keras model, and what it answers to bad input."""

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
from firth.recipes.reading.bundles import NoBundleError
from firth.tokenizers import BytePairTokenizer
from firth.tokenizers.graph.byte_pieces import byte_pieces
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES
from firth.tuning import TuningError
from tests.exported_model import RECIPE, VOCABULARY, exported_model, make_served
from tests.generation.cases import eagerly, generator_of
from tests.interop.hugging_face.checkpoints import checkpoint
from tests.interop.tensorflow import originals

TEXTS = ["the cat sat", "on the mat", "a word by company", "it keeps you"]
REVIEWS = [{"text": text, "label": "yes" if "the" in text else "no"} for text in TEXTS * 4]


@pytest.fixture(scope="module")
def bert():
    served = make_served(RECIPE)
    return LanguageModel(served.recipe, served.tokenizer, served.model)


@pytest.fixture
def fresh():
    served = make_served(RECIPE)
    return LanguageModel(served.recipe, served.tokenizer, served.model)


@pytest.fixture(scope="module")
def gpt2():
    made = generator_of("causal_lm")
    return LanguageModel(made.recipe, made.tokenizer, made.model)


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
    client = firth.serving.Client(exported_model().directory)
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


@pytest.mark.parametrize(
    ("ask", "error", "named"),
    [
        (lambda bert, gpt2: bert.embed([]), ValueError, "texts is empty"),
        (lambda bert, gpt2: bert.fill_mask(["a", None]), TypeError, "texts[1] is None"),
        (
            lambda bert, gpt2: bert.fill_mask(["[MASK]", "<mask> a"]),
            ValueError,
            "texts[1]: [MASK] is missing",
        ),
        (lambda bert, gpt2: bert.fill_mask("a " * 40 + "[MASK]"), ValueError, "after the last token"),
        (lambda bert, gpt2: bert.embed([b"a"]), TypeError, "texts[0] is bytes"),
        (lambda bert, gpt2: bert.embed(7), TypeError, "int"),
        (lambda bert, gpt2: bert.predict([]), ValueError, "empty"),
        (lambda bert, gpt2: bert.generate("a"), ValueError, "fill_mask"),
        (lambda bert, gpt2: gpt2.fill_mask("a"), ValueError, "generate"),
        (lambda bert, gpt2: gpt2.generate([]), ValueError, "prompts is empty"),
        (lambda bert, gpt2: gpt2.generate(None), TypeError, "NoneType"),
        (lambda bert, gpt2: gpt2.generate("the", temprature=1.0), ValueError, "temperature"),
        (lambda bert, gpt2: gpt2.generate("the", strip_prompt=True), ValueError, "max_new_tokens"),
        (lambda bert, gpt2: gpt2.generate("the", sampler="top_k"), ValueError, "give top_k"),
        (lambda bert, gpt2: gpt2.generate("the", sampler="top"), ValueError, "contrastive"),
        (lambda bert, gpt2: gpt2.generate("the", max_length=4), ValueError, "max_new_tokens"),
        (lambda bert, gpt2: gpt2.generate("the", num_beams=2), ValueError, "it is beams"),
        (lambda bert, gpt2: gpt2.compile(sampler="top_p"), ValueError, "generate takes it"),
        (lambda bert, gpt2: bert.fill_mask("[MASK]", top_k=0), ValueError, "top_k"),
        (lambda bert, gpt2: bert.embed("a", convert_to_tensor=True), TypeError, "numpy"),
        (lambda bert, gpt2: bert.preprocessor(["a"], return_tensors="np"), TypeError, "tensors of Keras"),
        (lambda bert, gpt2: bert.finetune(REVIEWS, num_train_epochs=1), TypeError, "epochs= takes it"),
        (lambda bert, gpt2: bert.finetune(REVIEWS, epoch=1), TypeError, "did you mean epochs"),
        (lambda bert, gpt2: bert.finetune(REVIEWS, task="regression"), ValueError, "train: none of 16"),
        (lambda bert, gpt2: firth.load("a", torch_dtype="bfloat16"), TypeError, "dtype= takes it"),
        (
            lambda bert, gpt2: firth.pretrain("bert_tiny", lr=1e-3),
            TypeError,
            "training.optimizer.learning_rate",
        ),
        (lambda bert, gpt2: firth.pretrain("bert_tiny", train_dataset=[]), TypeError, "texts= takes it"),
        (lambda bert, gpt2: firth.LanguageModel.from_pretrained("a"), AttributeError, "firth.load(folder)"),
        (lambda bert, gpt2: bert.save_pretrained("a"), AttributeError, "format='hf'"),
        (lambda bert, gpt2: gpt2.generate("the", max_new_token=1), ValueError, "max_new_tokens"),
        (lambda bert, gpt2: bert.ask("clasify", ["a"]), ValueError, "embed"),
        (lambda bert, gpt2: bert.fit([]), ValueError, "x is empty"),
        (lambda bert, gpt2: bert.fit(TEXTS, sample_weight=[1] * 4), ValueError, "sample_weight"),
        (lambda bert, gpt2: bert.fit(TEXTS, ["a"], batch_size=2), ValueError, ""),
        (lambda bert, gpt2: bert.compile("adamw", loss="mse"), ValueError, "loss"),
        (lambda bert, gpt2: bert.add_adapter("lorra"), ValueError, "lora"),
        (lambda bert, gpt2: bert.export("published", format="hff"), ValueError, "did you mean hf"),
        (lambda bert, gpt2: bert.save_adapter("adapter"), ValueError, "finetune"),
        (lambda bert, gpt2: bert.finetune([]), ValueError, "train is empty"),
        (lambda bert, gpt2: bert.finetune(TEXTS), TypeError, "zip(texts, labels)"),
        (lambda bert, gpt2: bert.fit(["a"], validation_split=0.5), ValueError, "validation_split"),
        (lambda bert, gpt2: firth.load("bert_tiny"), ValueError, "firth.create"),
        (
            lambda bert, gpt2: firth.load("google-bert/bert-base-cased"),
            ValueError,
            "hf download google-bert/",
        ),
        (lambda bert, gpt2: firth.pretrain(TEXTS, "bert_tiny"), TypeError, "preset"),
        (lambda bert, gpt2: bert.finetune(pandas.DataFrame(REVIEWS), text="txt"), ValueError, "text"),
        (lambda bert, gpt2: bert.finetune([{**REVIEWS[0], "label": None}]), ValueError, "train[0]: 'label'"),
        (lambda bert, gpt2: bert.finetune(REVIEWS, task="clasification"), ValueError, "classification"),
        (lambda bert, gpt2: bert.finetune([{"tokens": ["a"]}], task="taging"), ValueError, "mean tagging"),
        (lambda bert, gpt2: bert.finetune([{"tokens": ["a"]}], task="tagging"), ValueError, "text= names"),
        (lambda bert, gpt2: firth.pretrain(texts=TEXTS), ValueError, "base"),
        (lambda bert, gpt2: bert.finetune(REVIEWS, method="lorra"), ValueError, "lora"),
        (lambda bert, gpt2: bert.finetune({"text": TEXTS, "label": ["a"]}), ValueError, "'label' has 1"),
        (lambda bert, gpt2: bert.finetune("no.csv"), ValueError, "no.csv"),
        (lambda bert, gpt2: firth.create("bert_tinny"), ValueError, "bert_tiny"),
        (lambda bert, gpt2: firth.create("bert_tiny", overrides={"model.layer": 1}), ValueError, "layers"),
        (lambda bert, gpt2: firth.pretrain("bert_tiny", texts=[]), ValueError, "texts is empty"),
        (lambda bert, gpt2: firth.pretrain("bert_tiny", texts=["a", 3]), TypeError, "texts[1]"),
        (
            lambda bert, gpt2: firth.pretrain("bert_tiny", texts=pandas.DataFrame({"body": ["a"]})),
            ValueError,
            "body",
        ),
    ],
)
def test_bad_input_is_refused_and_leaves_the_model_usable(
    bert, gpt2, ask, error, named, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as raised:
        ask(bert, gpt2)
    assert named in str(raised.value) and "\n" not in str(raised.value)
    with eagerly():
        assert bert.embed("a").shape == (8,)


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({}, "it is empty"),
        ({"notes.txt": "a"}, "it holds notes.txt"),
        ({"saved_model.pb": ""}, "firth.serving.Client"),
        ({"model.bin": "", "config.json": "{}"}, "it holds a model of ctranslate2, .*load_generator"),
        ({"adapter.json": "{}"}, "load_adapter"),
    ],
)
def test_a_folder_that_is_no_model_is_named_with_what_it_holds(tmp_path, files, named):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(NoBundleError, match=named):
        firth.load(tmp_path)


def test_a_name_that_is_no_run_has_the_nearest(bert, tmp_path, monkeypatch):
    monkeypatch.setenv("FIRTH_ROOT", str(tmp_path))
    bert.save(tmp_path / "minilm" / "bundle")
    assert firth.load("minilm").source == str(tmp_path / "minilm" / "bundle")
    with pytest.raises(NoBundleError, match="minilm"):
        firth.load("minillm")


def test_a_folder_of_hugging_face_is_opened_as_the_command_imports_it(tmp_path):
    model = firth.load(checkpoint(tmp_path))
    assert model.source is None and "fill_mask" in model.signatures
    with pytest.raises(InteropError):
        firth.load(checkpoint(tmp_path, model_type="nobody"))
    original = originals.write(tmp_path / "original", originals.random(originals.bert()))
    assert "fill_mask" in firth.load(original).signatures


def test_keras_trains_saves_and_loads_it(fresh, tmp_path):
    class Seen(keras.callbacks.Callback):
        epochs: ClassVar[list] = []

        def on_epoch_end(self, epoch, logs=None):
            self.epochs.append(sorted(logs))

    fresh.compile(keras.optimizers.SGD(0.1), run_eagerly=True)
    before = [np.array(each) for each in fresh.get_weights()]
    fresh.fit(
        tf.data.Dataset.from_tensor_slices(TEXTS),
        epochs=2,
        batch_size=4,
        validation_data=TEXTS[:2],
        callbacks=[Seen()],
        verbose=0,
    )
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
    own.compile("sgd", run_eagerly=True)
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
    fresh.add_adapter("lora", rank=2)
    for name in ("bundle", "kept.keras"):
        with pytest.raises(ValueError, match="merge"):
            fresh.save(tmp_path / name)
    fresh.merge()
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


@pytest.mark.repeated
def test_fit_compiled_by_xla(fresh):
    fresh.compile("adamw", jit_compile=True)
    assert np.isfinite(fresh.fit(TEXTS * 2, batch_size=4, verbose=0).history["loss"]).all()
    # Of batches of another size TensorFlow makes a graph for all sizes.
    found = fresh.fit(TEXTS * 2, batch_size=3, validation_split=0.25, verbose=0).history
    assert np.isfinite([*found["loss"], *found["val_loss"]]).all()


def test_another_backend_than_tensorflow_embeds_and_says_what_it_cannot(bert, monkeypatch):
    with eagerly():
        expected = bert.embed(TEXTS)
    bert.forget_graphs()
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    np.testing.assert_allclose(bert.embed(TEXTS), expected, atol=1e-6)
    for ask in (bert.fill_mask, bert.generate):
        with pytest.raises(ValueError, match=r"KERAS_BACKEND.*embed"):
            ask("a")
    bert.forget_graphs()


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


def test_the_same_seed_gives_the_same_weights_whatever_holds_the_records(bert, tmp_path):
    table = pandas.DataFrame(REVIEWS)
    batches = tf.data.Dataset.from_tensor_slices(table.to_dict("list"))
    with eagerly():
        models = [bert.finetune(each, epochs=1, seed=3, verbose=False) for each in (REVIEWS, table, batches)]
    made = [each.get_weights() for each in models]
    for other in made[1:]:
        for one, same in zip(made[0], other, strict=True):
            np.testing.assert_array_equal(one, same)
    # Its adapter would carry the digest of a base whose weights it does not fit.
    models[0].add_adapter("lora", rank=2)
    with pytest.raises(ValueError, match="merge"):
        models[0].save_adapter(tmp_path / "adapter")


def test_records_of_one_label_are_evaluated_and_those_of_an_unknown_one_are_named(bert):
    with eagerly():
        stars = bert.finetune(REVIEWS, epochs=1, verbose=False)
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
