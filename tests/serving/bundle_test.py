"""Hidden states and logits of texts, from a bundle alone."""

import json

import numpy as np

from firth.models import save_model
from firth.tokenizers import save_tokenizer
from tests.exported_model import RECIPE, ROWS_OF_VOCABULARY, make_served
from tests.fresh_process import run_python

PROGRAM = """
import json, sys
from firth.serving import Client
def loaded(*names):
    return [name for name in names if name in sys.modules]
client = loaded("tfx", "apache_beam", "keras_hub", "firth.models")
from firth.serving import load_served
served = load_served(sys.argv[1])
features = served.encode(["the cat [MASK] on the mat .", "a word"], ["[MASK]"]).features
hidden, logits = served.model.backbone(features), served.model.logits(features)
mlm = logits["mlm"].numpy().tolist()
bundle = loaded("tfx", "apache_beam")
print(json.dumps({"hidden": hidden.numpy().tolist(), "mlm": mlm, "client": client, "bundle": bundle}))
"""


def test_a_bundle_reads_texts_and_a_client_is_imported_without_tfx(tmp_path):
    served = make_served(RECIPE)
    save_tokenizer(served.tokenizer, tmp_path / "tokenizer")
    save_model(served.model, RECIPE, tmp_path / "tokenizer", tmp_path / "bundle")
    done = run_python(["-c", PROGRAM, str(tmp_path / "bundle")], check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    features = served.encode(["the cat [MASK] on the mat .", "a word"], ["[MASK]"]).features
    # The client alone loads neither KerasHub nor firth.models.
    assert found["client"] == found["bundle"] == []
    np.testing.assert_allclose(found["hidden"], served.model.backbone(features), atol=1e-5)
    np.testing.assert_allclose(found["mlm"], served.model.logits(features)["mlm"], atol=1e-4)
    # The longer text has seven pieces between [CLS] and [SEP].
    assert np.shape(found["mlm"]) == (2, 9, ROWS_OF_VOCABULARY)
