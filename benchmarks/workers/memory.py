"""Memory of this process, as Linux counts it."""


def status_bytes() -> dict[str, int]:
    """Returns the sizes of `/proc/self/status` by their names there."""
    with open("/proc/self/status") as file:
        fields = (line.split() for line in file)
        return {each[0].rstrip(":"): 1024 * int(each[1]) for each in fields if each[-1] == "kB"}


def peak_bytes() -> int:
    """Returns the most memory that this process has had.

    `ru_maxrss` of `getrusage` is not that: a process starts with the peak of the one that started it.
    """
    return status_bytes()["VmHWM"]
