"""Lets TensorFlow read `s3://` in a worker of Beam. Its import is all: Beam imports it for `--beam_plugin`.

TFX's own transforms, as those of the Evaluator, read models by TensorFlow and import nothing of firth before.
"""

from firth.storage.paths import gfile_of

gfile_of("s3://")
