import gc
import json
import sys
import time
from pathlib import Path

from sense7_qual._formats import read_strings
from sense7_qual.corpus import Limits
from sense7_qual.errors import ImportRefused

limits, found = Limits(cells=int(sys.argv[1])), {}
for name in sys.argv[2:]:
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    start = time.perf_counter()
    try:
        said = f"read {read_strings(name, limits=limits).shape}"
    except ImportRefused as refused:
        said = str(refused)
    status = Path("/proc/self/status").read_text()
    peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
    found[Path(name).name] = said, peak / 1000, time.perf_counter() - start
print(json.dumps(found))
