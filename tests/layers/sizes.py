"""Arguments and numbers of parameters that cases of several files share."""

from tests.layers.inputs import WIDTH

ATTENTION_PARAMETERS = 4 * (WIDTH * WIDTH + WIDTH)
FEED_FORWARD_PARAMETERS = 2 * WIDTH * 20 + 20 + WIDTH
# Four query heads of width 2, two heads of keys and values, a gate, and no biases.
LLAMA_ATTENTION = {"heads": 4, "key_value_heads": 2}
LLAMA_ATTENTION_PARAMETERS = 2 * WIDTH * WIDTH + 2 * WIDTH * WIDTH // 2
TWO_STREAM_ATTENTION_PARAMETERS = 5 * WIDTH * WIDTH + 5 * WIDTH
