"""Keys and values put into a cache without a copy of it."""

import tensorflow as tf

# Integers of the size of a float of so many bytes. A GPU adds and scatters them itself; signed ones of 32
# bits are kept in the memory of the host, as they mostly are sizes.
_INTEGERS = {2: tf.uint16, 4: tf.uint32, 8: tf.uint64}


def written_in_place(cache: tf.Tensor, tokens: tf.Tensor, index: tf.Tensor) -> tf.Tensor:
    """Returns a cache in which the vectors of some tokens of each row are new ones.

    `tf.tensor_scatter_nd_update` copies its first input always. An addition of single rows writes into it
    where nothing else holds it, as in a loop; and a sum of integers is exact: what is added to the bits that
    stand there is their difference from the new ones.

    Args:
        cache: Float tensor [batch, heads, length, head_width].
        tokens: Float tensor [batch, heads, count, head_width] of the same dtype.
        index: Place of the first one in each row, int32 [batch]. All places must be below the length.

    Example:

    >>> cache, tokens = tf.zeros([2, 1, 3, 1]), tf.ones([2, 1, 1, 1])
    >>> written_in_place(cache, tokens, tf.constant([0, 2]))[:, 0, :, 0].numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    bits, width = _INTEGERS[cache.dtype.size], cache.shape[-1]
    rows = tf.reshape(tf.bitcast(cache, bits), [-1, width])
    new = tf.reshape(tf.bitcast(tokens, bits), [-1, width])
    places = tf.reshape(_places(cache, tokens, index), [-1, 1])
    # A GPU gathers floats only.
    old = tf.bitcast(tf.gather_nd(tf.reshape(cache, [-1, width]), places), bits)
    change = new - old
    written = tf.raw_ops.ScatterNdNonAliasingAdd(input=rows, indices=places, updates=change)
    sizes = [-1, *cache.shape[1:]] if None not in cache.shape[1:] else tf.shape(cache)
    return tf.bitcast(tf.reshape(written, sizes), cache.dtype)


def _places(cache: tf.Tensor, tokens: tf.Tensor, index: tf.Tensor) -> tf.Tensor:
    """Returns the number of each token's vector among all vectors, int32 [batch, heads, count]."""
    heads, length = cache.shape[1], cache.shape[2] or tf.shape(cache)[2]
    count = tokens.shape[2] or tf.shape(tokens)[2]
    firsts = tf.reshape(tf.range(tf.shape(index)[0] * heads) * length, [-1, heads, 1])
    return firsts + index[:, tf.newaxis, tf.newaxis] + tf.range(count)
