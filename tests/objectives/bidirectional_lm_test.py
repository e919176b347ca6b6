"""ELMo's objective with literal words."""

import numpy as np

from firth.objectives import OBJECTIVES
from firth.recipes.objectives.language_models import BidirectionalLM
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tokenizers.word import WordTokenizer
from tests.objectives.cases import make
from tests.objectives.rows import row
from tests.objectives.words import LECTURE, word_tokenizer

OTHER = "It was fun ."
TOKENIZER = word_tokenizer(LECTURE, OTHER)


def test_bidirectional_lm():
    words = WordTokenizer(["<S>", "</S>", "<UNK>", "Thank", "you", "for", "me"], max_characters=6)
    sequences = Sequences(length=10, max_documents=2)
    objective = OBJECTIVES["bidirectional_lm"](BidirectionalLM(), sequences, words)
    text = words.split(["Thank you for inviting me"]).flat_values
    one = row(words.word_ids(text).numpy(), [3, 2], [1, 2], 8, 2)
    one["characters"] = np.zeros((8, 6), np.int32)
    one["characters"][:5] = words.characters(text)
    made = {name: value.numpy() for name, value in objective(one, None, seed=[0, 0]).items()}

    def shown(name, weights):
        tokens = [words.id_to_token(int(each)) for each in made[name]]
        return " ".join(token if used else "-" for token, used in zip(tokens, made[weights]))

    # `inviting` is not in the vocabulary: read by its characters, and predicted as <UNK>.
    assert shown("token_ids", "document_ids") == "<S> Thank you for </S> <S> <UNK> me </S> -"
    assert shown("label_ids", "label_weights") == "Thank you for </S> - <UNK> me </S> - -"
    assert shown("backward_label_ids", "backward_label_weights") == "- <S> Thank you for - <S> <UNK> me -"
    ends = [words.bos_characters, words.eos_characters]
    spelled = words.characters(text).numpy()
    np.testing.assert_array_equal(
        made["characters"],
        np.stack([ends[0], *spelled[:3], ends[1], ends[0], *spelled[3:], ends[1], np.zeros(6)]),
    )


def test_characters_stay_with_their_words():
    made = make("bidirectional")
    for index, (one, texts) in enumerate(made.each()):
        for number, text in enumerate(texts):
            mine = one["characters"][one["document_ids"] == number + 1]
            np.testing.assert_array_equal(mine[1:-1], (np.array(text)[:, None] * 7 + np.arange(6)))
            np.testing.assert_array_equal(mine[0], made.case.tokenizer.bos_characters)
            np.testing.assert_array_equal(mine[-1], made.case.tokenizer.eos_characters)
        assert not one["characters"][one["document_ids"] == 0].any(), index
