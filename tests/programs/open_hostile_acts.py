import resource
import sys
from pathlib import Path

from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._stored import leftover_journal
from tests.helpers.small_study import put

resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000))
store, bad = Store(sys.argv[1]), Path(sys.argv[2])
inside = Path(store.path) / "acts" / "eva.sqlite"
doors = {
    "acts": lambda: store.acts(coder="eva"),
    "append": lambda: store.append([put(coder="eva", start=0, end=2)]),
    "another": lambda: store.append([put(coder="ana", start=0, end=3, round="one")]),
    "merge": lambda: store.copies.merge(bad),
    "salvage": lambda: store.admin.salvage("eva", bad.with_name("saved.sqlite")),
    "backup": lambda: store.copies.backup(bad.with_name("backup")),
}
for name, door in doors.items():
    try:
        door()
        print(name, "went on")
    except StoreError as refused:
        print(name, "views" in str(refused) or "problems in" in str(refused))
found = store.verify().set_index("file").loc["acts/eva.sqlite"]
print("verify", "views" in found["problem"])
print("journal", leftover_journal._whole(inside) is None)
