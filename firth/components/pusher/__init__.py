"""Pusher: TFX's, with versions that appear only when they are whole."""
