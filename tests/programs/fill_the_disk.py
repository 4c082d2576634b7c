# Appends until the disk refuses, then once more after it has room again; tells what happened as JSON.
import json
import os
import resource
import signal
import sys

from sense7_qual import acts
from sense7_qual.errors import StoreError
from sense7_qual.store import Store

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store, kind = Store(sys.argv[1]), sys.argv[2]
ballast = store.path.parent / "ballast"
said, refused, after = [], "", 0


def fill():
    if kind == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, resource.RLIM_INFINITY))
        return
    with open(ballast, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            file.truncate(max(0, file.tell() - 120_000))


def free():
    if kind == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    else:
        ballast.unlink()


def batch():
    return [
        acts.apply(coder="ana", unit_id="m1", code="interest", start=i, end=i + 9, codebook=store.codebook)
        for i in range(7)
    ]


fill()
for number in range(1000):
    wanted = batch()
    try:
        store.append(wanted)
    except StoreError as error:
        refused = str(error)
        break
    said += [act.act_id for act in wanted]
kept = [act.act_id for act in store.acts()]
free()
after = store.append(wanted)
print(
    json.dumps(
        {
            "said": said,
            "kept": kept,
            "refused": refused,
            "after": after,
            "ok": bool(Store(store.path).verify()["ok"].all()),
            "files": sorted(os.listdir(store.path / "acts")),
        }
    )
)
