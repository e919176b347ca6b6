"""Files in and out: compressed, on any of Beam's file systems, whole or not at all; and Beam's workers."""
