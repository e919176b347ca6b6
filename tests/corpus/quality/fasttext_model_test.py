"""Scores of fastText's models as fastText itself gives them."""

import pytest

from firth.corpus.documents.errors import CorpusError
from firth.corpus.quality.fasttext_model import FastText
from tests.corpus.quality.models import GOLDEN, MADE, fasttext_step


@pytest.mark.parametrize("name", ["fasttext", "fasttext_hs"])
def test_scores_are_those_of_fasttext(name):
    model = FastText.load(fasttext_step(name))
    assert model.labels == ["__label__cc", "__label__hq", "__label__weather"]
    for which, text in MADE["texts"].items():
        for label, expected in MADE["scores"][name][which].items():
            assert model.score(text, label) == pytest.approx(expected, abs=1e-6)


def test_another_file_is_refused(tmp_path):
    (tmp_path / "model.bin").write_bytes(b"Not a model.")
    with pytest.raises(CorpusError, match=r"fasttext: .*model.bin: .*supervised"):
        FastText(fasttext_step(path=f"{tmp_path}/model.bin"))


def test_a_file_that_was_cut_short_is_refused_by_name(tmp_path):
    (tmp_path / "model.bin").write_bytes((GOLDEN / "fasttext.bin").read_bytes()[:-3])
    said = r"fasttext: .*model.bin: .* 2,226 .* 2,229"
    with pytest.raises(CorpusError, match=said):
        FastText(fasttext_step(path=f"{tmp_path}/model.bin"))
