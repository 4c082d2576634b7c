import os
import resource
import sys
import time
from pathlib import Path

from sense7_qual.errors import QualError
from sense7_qual.store import Store
from tests.helpers.small_study import put

resource.setrlimit(resource.RLIMIT_AS, (4_000_000_000, 4_000_000_000))
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000_000, 200_000_000))
whole, bad = Path(sys.argv[1]), Path(sys.argv[2])
beside = bad.parent
doors = {
    "open": lambda: Store(bad).units,
    "acts": lambda: Store(bad).acts(),
    "append": lambda: Store(bad).append([put(coder="ana", start=0, end=2, round="one")]),
    "verify": lambda: Store(bad).verify(),
    "backup": lambda: Store(bad).copies.backup(beside / "backup"),
    "archive": lambda: Store(bad).copies.archive(beside / "again.zip"),
    "merge": lambda: Store(whole).copies.merge(bad),
    "merge the file": lambda: Store(whole).copies.merge(bad / sys.argv[3]),
    "salvage": lambda: Store(bad).admin.salvage("eva", beside / "saved.sqlite"),
    "forget": lambda: Store(bad).forget("p1", why="By mail."),
}
threads = len(os.listdir("/proc/self/task"))
for name, door in doors.items():
    since = time.process_time()
    try:
        door()
        outcome = "went on"
    except QualError:
        outcome = "refused"
    print(name, outcome, round(time.process_time() - since, 1), sep=":", flush=True)
print("peak", "", [line for line in open("/proc/self/status") if "VmHWM" in line][0].split()[1], sep=":")
print("threads", "", len(os.listdir("/proc/self/task")) - threads, sep=":")
