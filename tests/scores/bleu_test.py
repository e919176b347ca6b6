import math

import pytest

from firth.scores import Collected, compute
from firth.scores.bleu import bleu, bleu_signature

# sacrebleu's README, "Using SacreBLEU from Python": 48.53, 82.4/50.0/45.5/37.5, brevity penalty 0.943.
PREDICTIONS = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
REFERENCES = [
    ["The dog bit the man.", "The dog had bit the man."],
    ["It was not unexpected.", "No one was surprised."],
    ["The man bit him first.", "The man had bitten the dog."],
]


def test_the_documented_example():
    assert bleu(REFERENCES, PREDICTIONS) == pytest.approx(48.53, abs=0.005)
    by_hand = math.exp(1 - 18 / 17) * (14 / 17 * 7 / 14 * 5 / 11 * 3 / 8) ** 0.25
    assert bleu(REFERENCES, PREDICTIONS) == pytest.approx(100 * by_hand)


def test_the_signature_is_kept_next_to_the_score():
    examples = [Collected(str(n), *pair) for n, pair in enumerate(zip(REFERENCES, PREDICTIONS))]
    found = compute("bleu", examples, lowercase=True)
    name, _, version = found.signature.rpartition(":")
    assert name == "nrefs:2|case:lc|eff:no|tok:13a|smooth:exp|version"
    assert version.split(".")[:1] == ["2"]
    assert found.value == bleu(REFERENCES, PREDICTIONS, lowercase=True)


def test_of_one_reference_and_of_different_numbers():
    assert bleu_signature(["a"]).startswith("nrefs:1|case:mixed|")
    assert bleu_signature([["a"], ["b", "c"]]).startswith("nrefs:var|")
    assert bleu_signature([]).startswith("nrefs:1|")
    assert bleu(["a b c d", ["e f g h", "x"]], ["a b c d", "e f g h"]) == pytest.approx(100.0)


def test_a_set_is_not_the_mean_of_its_sentences():
    references, predictions = ["a b c d e", "f g h i j k"], ["a b c d e", "f x h y j z"]
    alone = [bleu([right], [given]) for right, given in zip(references, predictions)]
    assert bleu(references, predictions) != pytest.approx(sum(alone) / 2, abs=1)


def test_what_cannot_be_scored_is_refused(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match=r"'13b'.* 13a\?"):
        bleu(["a"], ["a"], tokenize="13b")
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    with pytest.raises(ValueError, match=rf"'flores200'.*{tmp_path}.* 13a, intl"):
        bleu(["a"], ["a"], tokenize="flores200")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"'ja-mecab'.* MeCab.* 13a, intl, zh, char, none"):
        bleu(["a"], ["a"], tokenize="ja-mecab")
    with pytest.raises(ValueError, match=r"example 1 .*translation"):
        bleu(["a", []], ["a", "b"])
    assert bleu(["a b c d"], [""]) == 0.0
