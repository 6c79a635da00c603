"""Prints what CPython's random.Random draws: python3 vectors.py > vectors.json"""

# Floats as text: not every reader of JSON reads each digit.
import json
import random

vectors = []
for seed in (0, 1, 3, 42, 2**32 - 1, 2**32, 2**32 + 5, 2**64 - 1):
    draw = random.Random(seed)
    vectors.append({
        "seed": seed,
        "random": [repr(draw.random()) for _ in range(700)][::100],
        "uniform": [repr(draw.uniform(a, b)) for a, b in ((0, 1.5), (1, 9), (3, 3))],
        "bits_128": [str(draw.getrandbits(128)) for _ in range(2)],
        "below": [[n, draw.randrange(n)] for n in (1, 2, 3, 10, 255, 256, 257, 2**31, 2**32 - 1)],
        "shuffled": random.Random.shuffle(draw, items := list(range(20))) or items,
        "choice": draw.choice(range(1000)),
        "last": repr(draw.random()),
    })
print(json.dumps(vectors, indent=1))
