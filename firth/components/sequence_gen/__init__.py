"""SequenceGen: tokenized documents packed into rows."""
