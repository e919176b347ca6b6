"""Answers of a language model to bad input."""

import pandas
import pytest

import firth
from firth.recipes.reading.bundles import NoBundleError
from tests.generation.cases import eagerly
from tests.language_model.small_records import REVIEWS, TEXTS


@pytest.fixture(scope="module")
def usable(bert):
    """A model that answers after all that it has refused; asking it takes longer than a refusal."""
    yield bert
    with eagerly():
        assert bert.embed("a").shape == (8,)


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
        (lambda bert, gpt2: bert.finetune(REVIEWS, task="regression"), ValueError, "; train[0]: the label"),
        (
            lambda bert, gpt2: bert.finetune(REVIEWS, REVIEWS[:1], task="regression"),
            ValueError,
            "; train[0]: the label",
        ),
        (
            lambda bert, gpt2: bert.finetune([{"text": "a", "label": name} for name in "ab"]),
            ValueError,
            "train: all texts are the same, so that none can be held out; name eval",
        ),
        (lambda bert, gpt2: bert.predict(["a", "b"], pair=["c"]), ValueError, "pair is 1 texts"),
        (lambda bert, gpt2: bert.predict(), ValueError, "'text'"),
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
        (lambda bert, gpt2: bert.fit(TEXTS, ["a"], batch_size=2), ValueError, "finetune(zip"),
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
        (
            lambda bert, gpt2: bert.finetune(REVIEWS, task="token-classification"),
            ValueError,
            "tagging is its",
        ),
        (lambda bert, gpt2: bert.finetune(REVIEWS, task="fill-mask"), ValueError, "firth.pretrain(base="),
        (lambda bert, gpt2: bert.finetune(REVIEWS, task="causal_lm"), ValueError, "firth.pretrain(base="),
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
    usable, gpt2, ask, error, named, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as raised:
        ask(usable, gpt2)
    assert named in str(raised.value) and "\n" not in str(raised.value)


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


@pytest.mark.parametrize("name", ["google-bert/bert-base-cased", "gpt2", "/no/such/folder"])
def test_a_download_is_named_once(name):
    with pytest.raises(NoBundleError) as raised:
        firth.load(name)
    assert str(raised.value).count("download ") == 1 and "downloaded" not in str(raised.value)
    assert ("OWNER/NAME" in str(raised.value)) == (name[0] == "/")
