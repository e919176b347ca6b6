"""Words and sentences of text in any script, as every step, objective, score and count divides it."""
