import numpy as np


def generate(sizes, variant, rng):
    """Bytes of a CSV text: variant 0 few quotes, 1 none, 2 so many that half is quoted."""
    length = sizes["length"]
    letters = np.frombuffer(b"abcdefghijklmnop 0123456789.", np.uint8)
    text = letters[rng.integers(0, len(letters), length)]
    kind = rng.random(length, dtype=np.float32)
    text[kind < 0.13] = ord(",")
    text[kind < 0.02] = ord("\n")
    text[kind > (0.998, 2.0, 0.95)[variant]] = ord('"')
    return {"text": text}
