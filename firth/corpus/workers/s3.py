"""Plugin for Beam's workers (`--beam_plugin`) whose import lets TensorFlow read `s3://`.

TFX's own transforms, such as those of the Evaluator, read models by TensorFlow without importing firth.
"""

from firth.storage.paths import gfile_of

gfile_of("s3://")
