# Forks one writer for each file that a line on its input names, says their process ids, and says how each
# ended. A writer appends batch after batch to the acts of the coder after whom its file is named, and writes
# the ids of a batch into that file right after append returned. `round` names the batch and its size, so that
# a torn one would show. (Forking spares each writer the seconds of importing pandas; no connection is open
# when it happens.)
import os
import sys
import uuid

from sense7_qual import acts
from sense7_qual.store import Store


def write(store, most, coder, said):
    number = 0
    while number != most:
        size = (1, 1, 7)[number % 3]
        name = f"{uuid.uuid4()}-{size}"
        batch = [
            acts.apply(
                coder=coder,
                unit_id="m1",
                code="interest",
                start=i,
                end=i + 9,
                round=name,
                codebook=store.codebook,
            )
            for i in range(size)
        ]
        store.append(batch)
        os.write(said, (" ".join(act.act_id for act in batch) + "\n").encode())
        number += 1


store, most = Store(sys.argv[1]), int(sys.argv[2])
for line in sys.stdin:
    children = []
    for path in line.split():
        child = os.fork()
        if not child:
            try:
                write(store, most, path.rpartition("-")[2], os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            finally:
                os._exit(0 if sys.exc_info()[0] is None else 1)
        children.append(child)
    print(*children, flush=True)
    print(*[os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children], flush=True)
