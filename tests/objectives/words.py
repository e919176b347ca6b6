"""Readable rows: sentences in, sentences out."""

import numpy as np

from firth.objectives import OBJECTIVES
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tokenizers import WordPieceTokenizer
from firth.tokenizers.graph.vocabulary import sentinel_pieces
from tests.objectives.rows import SPECIALS, row

LECTURE = "Thank you for inviting me to your party last week ."


def word_tokenizer(*texts: str, sentinels: int = 9, pieces=()) -> WordPieceTokenizer:
    """A cased tokenizer of the words of some texts."""
    words = [piece for piece in dict.fromkeys(" ".join(texts).split()) if piece not in SPECIALS]
    words = [word for word in words if word not in pieces]
    return WordPieceTokenizer([*SPECIALS, *words, *pieces, *sentinel_pieces(sentinels)], lowercase=False)


def word_row(tokenizer, texts, raw_length, max_documents):
    """A row of documents, given as texts in which `|` begins a sentence."""
    specials = tokenizer.special_pieces
    tokens = [tokenizer.tokenize(text.replace("|", " "), specials=specials).numpy() for text in texts]
    parts = [tokenizer.tokenize(text.split("|"), specials=specials) for text in texts]
    sentences = [sentence for part in parts for sentence in part.to_list()]
    starts = [int(index == 0) for sentence in sentences for index in range(len(sentence))]
    flat = np.concatenate([*tokens, np.zeros(0, np.int32)]).astype(int)
    return row(
        flat,
        [len(each) for each in tokens],
        range(1, len(texts) + 1),
        raw_length,
        max_documents,
        word_starts=tokenizer.word_start_table[flat].astype(int),
        sentence_starts=starts,
    )


def spoken(tokenizer, ids) -> str:
    """The pieces of ids, sentinels as `<0>`, without padding after."""
    pieces = [tokenizer.id_to_token(int(index)) for index in np.asarray(ids)]
    return " ".join(pieces).replace("<extra_id_", "<").replace("[PAD]", "").strip()


def documents(tokenizer, ids, document_ids) -> list[str]:
    """The pieces of each document."""
    ids, document_ids = np.asarray(ids), np.asarray(document_ids)
    return [spoken(tokenizer, ids[document_ids == index]) for index in range(1, document_ids.max() + 1)]


def made_of(tokenizer, config, texts, length=20, max_documents=3, seed=(1, 2)):
    """The features of a row of documents, given as in `word_row`."""
    sequences = Sequences(length=length, max_documents=max_documents)
    objective = OBJECTIVES[config.kind](config, sequences, tokenizer)
    one = word_row(tokenizer, texts, objective.raw_length, max_documents)
    return {name: value.numpy() for name, value in objective(one, None, seed=list(seed)).items()}
