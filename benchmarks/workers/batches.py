"""Rows of real text for firth, and what those that do not pack read of the same documents.

Words get ids by a hash: which ones does not change the work. NumPy alone, so that all workers can read it.
"""

import re
import zlib
from collections.abc import Callable

import numpy as np

from benchmarks.workers.families import PREDICTIONS, Family, Size

FIRST_PIECE, MASK = 5, 4
IGNORED = -100
MASK_RATE, MEAN_SPAN = 0.15, 3

Features = dict[str, np.ndarray]
# Sizes, capacity of a row and most documents of a row, to the places of each row's documents.
Pack = Callable[[list[int], int, int], list[list[int]]]
# Ids that an encoder or a lone stack reads, and those that a decoder next to it reads.
Document = tuple[np.ndarray, np.ndarray]


def split(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.lower())


def word_id(word: str, vocabulary: int) -> int:
    return zlib.crc32(word.encode()) % (vocabulary - FIRST_PIECE) + FIRST_PIECE


def word_ids(text: str, vocabulary: int) -> list[int]:
    return [word_id(word, vocabulary) for word in split(text)]


def as_document(ids: list[int], family: Family, length: int, target_length: int) -> Document:
    """Returns a document's inputs, and its targets, in the lengths that the family's objective gives them."""
    if family.task == "corruption":
        raw = ids[: length + length // 10]
        noise = max(round(len(raw) * MASK_RATE), 1)
        marks = max(round(noise / MEAN_SPAN), 1) + 1
        source, target = raw[: max(len(raw) - noise, 1)] + ids[:marks], raw[:noise] + ids[:marks]
    elif family.task == "denoising":
        raw = ids[: length - 2]
        source, target = raw[: -(-8 * len(raw) // 10)] + ids[:2], raw + ids[:2]
    else:
        source, target = ids, []
    return np.array(source[:length], "int32"), np.array(target[:target_length], "int32")


def packed(
    documents: list[Document], capacities: tuple[int, int], most: int, pack: Pack
) -> list[list[Document]]:
    """Returns rows of documents as the pipeline packs them, in an order of their own."""
    sizes = [
        max(_share(ids, capacity, capacities[0]) for ids, capacity in zip(each, capacities))
        for each in documents
    ]
    rows = [[documents[index] for index in row] for row in pack(sizes, capacities[0], most)]
    return [rows[index] for index in np.random.default_rng(0).permutation(len(rows))]


def _share(ids: np.ndarray, capacity: int, whole: int) -> int:
    """Returns the share of a row, of `whole`, that ids fill."""
    return -(-len(ids) * whole // capacity) if len(ids) else 0


def text_lots(
    texts: list[str], family: Family, size: Size, target_length: int, most: int, lots: int, pack: Pack
) -> list[Features]:
    """Returns batches of packed documents, each cut to the length of a row."""
    ids = (word_ids(text, family.vocabulary) for text in texts)
    documents = [as_document(each, family, size.length, target_length) for each in ids if each]
    rows = packed(documents, (size.length, target_length), most, pack)
    if len(rows) < lots * size.batch:
        raise ValueError(f"the text fills {len(rows)} rows, {lots * size.batch} are needed")
    return _lots_of(rows, family, size, target_length, lots)


def _lots_of(rows, family: Family, size: Size, target_length: int, lots: int) -> list[Features]:
    starts = range(0, lots * size.batch, size.batch)
    return [
        make_lot(rows[start : start + size.batch], family, size, target_length, start) for start in starts
    ]


def together(lots: list[Features]) -> Features:
    """Returns several lots as one, so that documents of like lengths can be found among more of them."""
    return {name: np.concatenate([lot[name] for lot in lots]) for name in lots[0]}


def slices(features: Features, batch: int) -> list[Features]:
    """Returns a lot's rows in batches."""
    rows = len(features["token_ids"])
    starts = range(0, rows, batch)
    return [{name: value[start : start + batch] for name, value in features.items()} for start in starts]


def full_lots(family: Family, size: Size, target_length: int, lots: int) -> list[Features]:
    """Returns batches of rows that one document fills, in the encoder and in the decoder."""
    generator = np.random.default_rng(0)

    def ids(length):
        return generator.integers(FIRST_PIECE, family.vocabulary, length, dtype="int32")

    rows = [[(ids(size.length), ids(target_length))] for _ in range(lots * size.batch)]
    return _lots_of(rows, family, size, target_length, lots)


def make_lot(
    rows: list[list[Document]], family: Family, size: Size, target_length: int, seed: int
) -> Features:
    """Returns the features of a batch, as the family's objective makes them."""
    encoder = _stack(rows, 0, size.length)
    if family.has_decoder_beside_encoder:
        decoder = {f"decoder_{key}": value for key, value in _stack(rows, 1, target_length).items()}
        return {
            **encoder,
            **decoder,
            **_labels(decoder["decoder_token_ids"], decoder["decoder_document_ids"]),
        }
    if family.task in ("causal", "bidirectional"):
        return {**encoder, **_labels(encoder["token_ids"], encoder["document_ids"])}
    return {**encoder, "segment_ids": np.zeros_like(encoder["token_ids"]), **_hide(encoder, family, seed)}


def _stack(rows: list[list[Document]], side: int, length: int) -> Features:
    names = ("token_ids", "position_ids", "document_ids")
    features = {name: np.zeros((len(rows), length), "int32") for name in names}
    for index, row in enumerate(rows):
        place = 0
        for number, document in enumerate(row, 1):
            ids = document[side]
            here = index, slice(place, place + len(ids))
            features["token_ids"][here] = ids
            features["position_ids"][here] = np.arange(len(ids))
            features["document_ids"][here] = number
            place += len(ids)
    return features


def _labels(token_ids: np.ndarray, document_ids: np.ndarray) -> Features:
    """The next token of the same document."""
    follows = np.zeros(token_ids.shape, bool)
    follows[:, :-1] = (document_ids[:, 1:] == document_ids[:, :-1]) & (document_ids[:, 1:] > 0)
    return {"label_ids": np.roll(token_ids, -1, axis=1) * follows, "label_weights": follows.astype("float32")}


def _hide(encoder: Features, family: Family, seed: int) -> Features:
    generator = np.random.default_rng(seed)
    ids, real = encoder["token_ids"], encoder["document_ids"] > 0
    order = np.argsort(np.where(real, generator.random(ids.shape), 2.0), axis=1)[:, :PREDICTIONS]
    chosen = np.take_along_axis(real, order, axis=1)
    features = {
        "masked_positions": (order * chosen).astype("int32"),
        "masked_labels": np.take_along_axis(ids, order, axis=1) * chosen,
        "masked_weights": chosen.astype("float32"),
    }
    orders = np.zeros(ids.shape, "int32")
    np.put_along_axis(orders, order, np.arange(1, PREDICTIONS + 1) * chosen, axis=1)
    if family.task == "permutation":
        return {**features, "attention_order": orders}
    return {**features, "token_ids": np.where(orders > 0, MASK, ids).astype("int32")}


def count_tokens(features: Features) -> int:
    """Returns the tokens of a batch that are not padding, the decoder's too."""
    return sum(int((value > 0).sum()) for name, value in features.items() if name.endswith("document_ids"))


def unpacked(features: Features) -> list[Features]:
    """Returns the documents of a lot, each with its `token_ids` and what is predicted of it.

    `labels` and `order` are dense; `labels` is `IGNORED` where nothing is predicted.
    """
    labels, order = dense_labels(features), features.get("attention_order")
    documents = []
    for row, numbers in enumerate(features["document_ids"]):
        for number in range(1, numbers.max() + 1):
            here = row, numbers == number
            document = {
                name: features[name][here] for name in ("token_ids", "characters") if name in features
            }
            if order is not None:
                document["order"] = order[here]
            if "decoder_token_ids" in features:
                here = row, features["decoder_document_ids"][row] == number
                document["decoder_token_ids"] = features["decoder_token_ids"][here]
            documents.append({**document, "labels": labels[here]})
    return documents


def dense_labels(features: Features) -> np.ndarray:
    """Returns the label of each position, int32 [rows, length], IGNORED where nothing is predicted."""
    if "label_ids" in features:
        return np.where(features["label_weights"] > 0, features["label_ids"], IGNORED)
    labels = np.full(features["token_ids"].shape, IGNORED, "int32")
    rows, columns = np.nonzero(features["masked_weights"])
    labels[rows, features["masked_positions"][rows, columns]] = features["masked_labels"][rows, columns]
    return labels


def peer_batches(features: Features, given: str, size: Size) -> list[Features]:
    """Returns the arrays that a peer reads, with masks next to the ids, the way its users prepare that work.

    In `joined`, documents are joined into full blocks, as people do who pre-train. In `sorted`, each document
    is a row and batches have similar lengths, as people do who fine-tune or serve. Each batch is padded to
    its longest row.
    """
    rows = unpacked(features)
    if given == "joined":
        rows = joined(rows, size.length)
    if given == "sorted":
        rows = sorted(rows, key=lambda row: -len(row["token_ids"]))
    return [_pad(rows[start : start + size.batch]) for start in range(0, len(rows), size.batch)]


def joined(documents: list[Features], length: int) -> list[Features]:
    """Returns blocks of `length` ids that documents fill one after another; what fills no block is left out.

    A decoder's ids and labels are dealt out to as many rows.
    """
    whole = {name: np.concatenate([each[name] for each in documents]) for name in documents[0]}
    blocks = len(whole["token_ids"]) // length
    dealt = {
        name for name in whole if "decoder_token_ids" in whole and name in ("decoder_token_ids", "labels")
    }
    parts = {
        name: np.array_split(value, blocks) if name in dealt else np.split(value[: blocks * length], blocks)
        for name, value in whole.items()
    }
    return [{name: parts[name][block] for name in parts} for block in range(blocks)]


def count_joined(features: Features) -> int:
    """Returns the tokens that are left where a lot's documents are joined into blocks as long as its rows."""
    tokens = count_tokens({"document_ids": features["document_ids"]})
    return count_tokens(features) - tokens % features["document_ids"].shape[1]


def _pad(documents: list[Features]) -> Features:
    features = {}
    for name in documents[0]:
        values = [document[name] for document in documents]
        real = np.arange(max(map(len, values))) < np.array([len(value) for value in values])[:, None]
        shape = (*real.shape, *values[0].shape[1:])
        features[name] = np.full(shape, IGNORED if name == "labels" else 0, "int32")
        features[name][real] = np.concatenate(values)
        if name.endswith("token_ids"):
            features[f"{name}_mask"] = real.astype("int32")
    return features


def gathered(labels: np.ndarray) -> Features:
    """Returns where labels predict something: `positions`, `ids`, `weights`, [batch, most of a document]."""
    predicted = labels != IGNORED
    count = max(int(predicted.sum(axis=1).max()), 1)
    positions = np.argsort(~predicted, axis=1, kind="stable")[:, :count].astype("int32")
    picked = np.take_along_axis(labels, positions, axis=1)
    weights = (picked != IGNORED).astype("float32")
    return {"positions": positions, "ids": np.maximum(picked, 0), "weights": weights}
