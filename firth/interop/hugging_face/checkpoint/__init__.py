"""Files of a checkpoint: its configuration, and its tensors one by one."""
