"""firth: pre-training, adapting and serving language models as TFX pipelines."""
