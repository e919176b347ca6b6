"""Words and sentences of text in any script, for all steps, objectives, scores and counts."""
