"""Tokenizers that the `tokenizers` package trains in a moment, like those that are published."""

import json
import random

import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors, trainers

from tests.interop.hugging_face.tokenizers.lines import SAMPLE

END = "<|endoftext|>"
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def _byte_level(specials):
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        SAMPLE.splitlines(),
        trainers.BpeTrainer(vocab_size=700, initial_alphabet=alphabet, show_progress=False),
    )
    made.add_special_tokens(specials)
    return made


def gpt2():
    """Ids in the order of the merges, and one special piece after them."""
    return _byte_level([END])


def roberta():
    """Ids in any order, special pieces first and the mask last, which includes the spaces before it."""
    content = json.loads(_byte_level([]).to_str())
    pieces = list(content["model"]["vocab"])
    random.Random(1).shuffle(pieces)
    every = [*ROBERTA[:4], *pieces, "madeupword0000", "abcdefgh", "<mask>"]
    content["model"]["vocab"] = {piece: index for index, piece in enumerate(every)}
    made = tokenizers.Tokenizer.from_str(json.dumps(content))
    made.add_special_tokens([*ROBERTA[:4], AddedToken("<mask>", lstrip=True, special=True)])
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return made


def bert(lowercase=True):
    """WordPiece with BERT's normalization."""
    made = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=600, special_tokens=BERT, show_progress=False)
    made.train_from_iterator(SAMPLE.splitlines(), trainer)
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return made


def ids_of(tokenizer, texts, framed=False):
    """The ids of texts, and with `framed` those of the special pieces around them."""
    return [row.ids for row in tokenizer.encode_batch(texts, add_special_tokens=framed)]
