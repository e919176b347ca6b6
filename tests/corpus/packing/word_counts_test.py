"""The imports of workers that count words."""

import json
import pickle

from firth.corpus.packing.word_counts import _count
from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.run.recipe import Recipe
from firth.tokenizers.tokenizer_kinds import TOKENIZERS
from tests.corpus.helpers import document
from tests.fresh_process import run_python

WORKER = """
import json, pickle, sys
counts = [count(*arguments) for count, arguments in pickle.load(open(sys.argv[1], "rb"))]
print(json.dumps([counts, "keras_hub" in sys.modules]))
"""


def test_a_worker_counts_the_words_of_every_kind_without_keras_hub(tmp_path):
    types = configs_in(Recipe.model_fields["tokenizer"].annotation)
    configs = {kind: config(vocabulary_size=300) for config in types for kind in kinds_of(config)}
    assert configs.keys() == TOKENIZERS.keys()
    records = [document("A whale, a whale, a ship.").to_example()]
    calls = [(_count, (records, TOKENIZERS[kind].word_counter(configs[kind]))) for kind in configs]
    (tmp_path / "calls").write_bytes(pickle.dumps(calls))
    done = run_python(["-c", WORKER, str(tmp_path / "calls")], check=True)
    counts, has_keras_hub = json.loads(done.stdout)
    assert not has_keras_hub
    assert counts == [count(*arguments) for count, arguments in calls]
    assert all(2 in each.values() for each in counts)
