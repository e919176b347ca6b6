"""The search for better values of a recipe's keys, as TFX's Tuner runs it."""
