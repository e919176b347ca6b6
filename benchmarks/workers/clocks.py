"""Clocks that the seconds of a training are read from."""

import time

# On a machine with other work, the seconds that a processor was busy are what two sides can be compared by.
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}
