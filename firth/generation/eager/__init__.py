"""Texts that Keras writes on any backend: a loop in Python, whose steps are functions of `keras.ops`."""
