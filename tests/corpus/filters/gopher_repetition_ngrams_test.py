import itertools

import pytest

from firth.corpus.filters.gopher_repetition import repeated_ngrams


def test_ngrams_against_a_naive_count():
    tokens = [*"ababacababdabcaba"]
    found = list(repeated_ngrams(tokens))
    for n in itertools.count(2):
        ngrams = ["".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
        repeated = [i for i, ngram in enumerate(ngrams) if ngrams.count(ngram) > 1]
        if not repeated:
            break
        repeats = found.pop(0)
        assert repeats.n == n
        assert sorted(repeats.starts.tolist()) == repeated
        assert sorted(repeats.later.tolist()) == [i for i in repeated if ngrams[i] in ngrams[:i]]
        different = {ngrams[i] for i in repeated}
        assert sorted(repeats.counts.tolist()) == sorted(map(ngrams.count, different))
    assert not found


@pytest.mark.parametrize("text", ["", " ", "a", "a a", "a b", "a b a", "a a a", "a b a b"])
def test_ngrams_of_little_text(text):
    starts = [sorted(repeats.starts.tolist()) for repeats in repeated_ngrams(text.split())]
    assert starts == {"a a a": [[0, 1]], "a b a b": [[0, 2]]}.get(text, [])
