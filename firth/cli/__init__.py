"""The `firth` command. Importing it loads neither TensorFlow nor TFX; each command loads what it needs."""
