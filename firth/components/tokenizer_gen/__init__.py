"""TokenizerGen: a tokenizer trained on the train split."""
