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


LLAMA_3 = ["<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>"]
LLAMA_3_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)


def llama3():
    """Llama 3's pattern, and all pairs of pieces as merges. Some pieces are made by none of them."""
    made = _byte_level([])
    split = pre_tokenizers.Split(tokenizers.Regex(LLAMA_3_SPLIT), "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    content = json.loads(made.to_str())
    vocabulary = content["model"]["vocab"]
    for piece in ("Ġfoxesjump", "quickbrown", "zzzq", "ĊĊĊ", "123", "...!"):
        vocabulary[piece] = len(vocabulary)
    pairs = [
        (piece[:end], piece[end:])
        for piece in sorted(vocabulary, key=vocabulary.get)
        for end in range(1, len(piece))
        if piece[:end] in vocabulary and piece[end:] in vocabulary
    ]
    pairs.sort(key=lambda pair: (vocabulary["".join(pair)], vocabulary[pair[0]], vocabulary[pair[1]]))
    content["model"] |= {"merges": pairs, "ignore_merges": True}
    made = tokenizers.Tokenizer.from_str(json.dumps(content))
    made.add_special_tokens(LLAMA_3)
    begin = made.token_to_id(LLAMA_3[0])
    made.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(
                single=f"{LLAMA_3[0]} $A",
                pair=f"{LLAMA_3[0]} $A {LLAMA_3[0]}:1 $B:1",
                special_tokens=[(LLAMA_3[0], begin)],
            ),
        ]
    )
    return made


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


def ids_of(tokenizer, texts, framed=False, splits=False):
    """The ids of texts, and with `framed` those of the special pieces around them.

    With `splits`, special pieces that are typed in a text are split as other text is, as by
    `split_special_tokens` of transformers.
    """
    tokenizer.encode_special_tokens = splits
    return [row.ids for row in tokenizer.encode_batch(texts, add_special_tokens=framed)]


def named_ids(tokenizer, texts):
    """The ids of our tokenizer for texts in which all special pieces are read as such."""
    return tokenizer.tokenize(texts, specials=tokenizer.special_pieces).to_list()
