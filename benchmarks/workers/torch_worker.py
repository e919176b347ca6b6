"""ELMo in torch's own modules, as its reference implementations put it together: padded batches."""

import math
import platform

import torch
from torch import nn
from torch.nn import functional

from benchmarks.workers import batches
from benchmarks.workers.families import NEGATIVES, Family, Size, elmo_cells
from benchmarks.workers.torch_model import TorchModel

FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))
CHARACTERS, CHARACTER_WIDTH, HIGHWAYS = 262, 16, 2


class CharCNN(nn.Module):
    """Words from their characters, through convolutions, highways and a projection."""

    def __init__(self, width: int):
        super().__init__()
        self.embedding = nn.Embedding(CHARACTERS, CHARACTER_WIDTH)
        self.convolutions = nn.ModuleList(nn.Conv1d(CHARACTER_WIDTH, count, size) for size, count in FILTERS)
        inner = sum(count for _, count in FILTERS)
        self.highways = nn.ModuleList(nn.Linear(inner, 2 * inner) for _ in range(HIGHWAYS))
        self.projection = nn.Linear(inner, width)

    def forward(self, characters):
        """Returns vectors [batch, length, width]."""
        embedded = self.embedding(characters.flatten(0, 1)).transpose(1, 2)
        largest = [convolution(embedded).amax(dim=-1) for convolution in self.convolutions]
        hidden = functional.relu(torch.cat(largest, dim=-1))
        for highway in self.highways:
            transformed, gate = highway(hidden).chunk(2, dim=-1)
            gate = torch.sigmoid(gate)
            hidden = gate * hidden + (1 - gate) * functional.relu(transformed)
        return self.projection(hidden).unflatten(0, characters.shape[:2])


class ELMo(nn.Module):
    """A language model in each direction over the same words and with one sampled softmax."""

    def __init__(self, family: Family, size: Size):
        super().__init__()
        self.words = CharCNN(size.width)
        self.stacks = nn.ModuleList(
            nn.ModuleList(
                nn.LSTM(size.width, elmo_cells(size), proj_size=size.width, batch_first=True)
                for _ in range(size.layers // 2)
            )
            for _ in range(2)
        )
        self.dropout = nn.Dropout(family.dropout)
        self.table = nn.Embedding(family.vocabulary, size.width)
        self.bias = nn.Embedding(family.vocabulary, 1)

    def states(self, characters, mask):
        """Returns the last layer of both directions, [batch, length, width] each."""
        words, turned = self.words(characters), _turned(mask)
        made = []
        for stack, order in zip(self.stacks, (None, turned)):
            hidden = words if order is None else _reorder(words, order)
            for index, lstm in enumerate(stack):
                outputs = lstm(self.dropout(hidden))[0]
                hidden = outputs + hidden if index else outputs
            made.append(hidden if order is None else _reorder(hidden, order))
        return made

    def forward(self, token_ids, characters, mask):
        """Returns an object with a `loss`: the mean over the next words and the previous ones."""
        forward, backward = self.states(characters, mask)
        pairs = mask[:, 1:] > 0
        hidden = torch.cat([forward[:, :-1][pairs], backward[:, 1:][pairs]])
        labels = torch.cat([token_ids[:, 1:][pairs], token_ids[:, :-1][pairs]])
        return Loss(self._sampled_cross_entropy(self.dropout(hidden), labels))

    def _sampled_cross_entropy(self, hidden, labels):
        vocabulary = self.table.num_embeddings
        drawn = torch.rand(NEGATIVES, device=hidden.device) * math.log(vocabulary + 1)
        candidates = (drawn.exp() - 1).long().clamp(max=vocabulary - 1).unique()
        logits = functional.linear(hidden, self.table(candidates)) + self.bias(candidates)[:, 0]
        logits = logits.float() - _log_expected(candidates, vocabulary)
        logits = logits.masked_fill(labels[:, None] == candidates, -1e30)
        of_labels = (hidden * self.table(labels)).sum(dim=-1, keepdim=True) + self.bias(labels)
        of_labels = of_labels.float() - _log_expected(labels, vocabulary)[:, None]
        return -functional.log_softmax(torch.cat([of_labels, logits], dim=1), dim=1)[:, 0].mean()


class Loss:
    """The result of a call."""

    def __init__(self, loss):
        self.loss = loss


def _log_expected(ids, vocabulary):
    shares = torch.log1p(1 / (ids + 1.0)) / math.log(vocabulary + 1)
    return torch.log(-torch.expm1(NEGATIVES * torch.log1p(-shares)))


def _turned(mask):
    """Returns the order that turns each document around and leaves its padding."""
    places = torch.arange(mask.shape[1], device=mask.device)
    lengths = mask.sum(dim=1, keepdim=True)
    return torch.where(places < lengths, lengths - 1 - places, places)


def _reorder(hidden, order):
    return hidden.gather(1, order[..., None].expand_as(hidden))


class Model(TorchModel):
    """ELMo; see `benchmarks.workers.work`."""

    def __init__(self, name: str, family: Family, size: Size):
        torch.manual_seed(0)
        super().__init__(ELMo(family, size), size.precision)
        self._size = size
        self.versions = {"python": platform.python_version(), "torch": torch.__version__}

    def prepare(self, features: batches.Features, given: str) -> list[dict[str, torch.Tensor]]:
        """Returns the lot's documents as peers read them."""
        given = batches.peer_batches(features, given, self._size)
        names = {"token_ids": "token_ids", "characters": "characters", "token_ids_mask": "mask"}
        return [{name: torch.tensor(batch[key]).long() for key, name in names.items()} for batch in given]

    def inference(self, batch) -> None:
        """Hidden states of all words."""
        self._model.eval()
        with torch.inference_mode(), self.autocast():
            self._model.states(batch["characters"], batch["mask"])
