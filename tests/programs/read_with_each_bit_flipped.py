import random
import sys
from pathlib import Path

from sense7_qual._formats import read_strings
from sense7_qual.errors import ImportRefused

path = Path(sys.argv[1])
packed, ends = path.read_bytes(), {"read": 0, "refused": 0}
begin = len(packed) - 8 - int.from_bytes(packed[-8:-4], "little")
for at in range(begin, len(packed)):
    flipped = bytearray(packed)
    flipped[at] ^= 1 << random.Random(at).randrange(8)
    path.write_bytes(flipped)
    try:
        read_strings(path)
        ends["read"] += 1
    except ImportRefused:
        ends["refused"] += 1
print(len(packed) - begin, *ends.values())
