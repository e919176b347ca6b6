"""Merges that are listed, in any order of the ids: what comes about, and what does not fit."""

import random

import hypothesis
import pytest
import tensorflow as tf
import tokenizers
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers

from firth.tokenizers.graph.byte_pair_kernel import BytePairKernel
from firth.tokenizers.graph.byte_pieces import MergeError, byte_pieces, merges_by_order, ranks_of, read_merges


def reference(ids, merges):
    made = tokenizers.Tokenizer(models.BPE(ids, merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return lambda texts: [row.ids for row in made.encode_batch_fast(texts, add_special_tokens=False)]


def made_up_merges(seed, letters="ab", count=20):
    """Merges of any two pieces that there are, of which many never come about."""
    choose, pieces, merges = random.Random(seed), list(letters), {}
    for _ in range(count):
        pair = choose.choice(pieces), choose.choice(pieces)
        if len("".join(pair)) <= 8 and "".join(pair) not in pieces:
            merges[pair] = None
            pieces.append("".join(pair))
    return list(merges)


@hypothesis.settings(max_examples=30, deadline=None, derandomize=True)
@hypothesis.given(seed=st.integers(0, 2**32), letters=st.sampled_from(["ab", "a", "abc"]))
def test_any_merges_give_the_ids_of_the_reference(seed, letters):
    merges = made_up_merges(seed, letters)
    pieces = [*byte_pieces(), *dict.fromkeys(map("".join, merges))]
    random.Random(seed).shuffle(pieces)
    words = random.Random(seed)
    texts = ["".join(words.choices(letters, k=words.randrange(1, 24))) for _ in range(60)]
    kernel = BytePairKernel(pieces, [], ranks=ranks_of(merges))
    ids = {piece: index for index, piece in enumerate(pieces)}
    assert kernel(tf.constant(texts)).to_list() == reference(ids, merges)(texts)


@hypothesis.settings(max_examples=30, deadline=None, derandomize=True)
@hypothesis.given(seed=st.integers(0, 2**32))
def test_a_vocabulary_in_the_order_of_its_merges_says_them(seed):
    ranks = ranks_of(made_up_merges(seed, "abc", 30))
    pieces = [*byte_pieces(), *sorted(ranks, key=ranks.get)]
    merges = merges_by_order(pieces)
    assert list(ranks_of(merges)) == ["".join(pair) for pair in merges] == pieces[256:]


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        (["a b", "ab"], "merge 2: 'ab' is not two pieces"),
        (["a b c"], "merge 1: 'a b c' is not two pieces"),
        (["a b", "ab x"], "merge 2: 'ab x': 'abx' is not in the vocabulary"),
        (["abc d"], "merge 1: 'abc d': 'abc' is made by no merge before"),
        (["a b", "a b"], "merge 2: 'a b': 'ab' is made by merge 1 too"),
        (["a b", "b c", "ab c", "a bc"], "merge 4: 'a bc': 'abc' is made by merge 3 too"),
    ],
)
def test_a_merge_that_does_not_fit(merges, message):
    with pytest.raises(MergeError, match=message):
        read_merges(merges, {*byte_pieces(), "ab", "bc", "abc", "abcd"})
