"""Numbers that divide sizes."""

import math


def nearest_divisor(number: int, *sizes: int) -> int:
    """Returns the number nearest to another that divides some sizes; of two as near, the smaller.

    Example:

    >>> nearest_divisor(5, 12), nearest_divisor(5, 12, 16), nearest_divisor(3, 7)
    (4, 4, 1)
    """
    whole = math.gcd(*sizes)
    divisors = [each for each in range(1, whole + 1) if whole % each == 0]
    return min(divisors, key=lambda each: (abs(each - number), each))


def nearest_multiple(size: int, number: int) -> int:
    """Returns the smallest multiple of a number that is no smaller than a size.

    Example:

    >>> nearest_multiple(50_257, 2), nearest_multiple(30_522, 2)
    (50258, 30522)
    """
    return -(-size // number) * number
