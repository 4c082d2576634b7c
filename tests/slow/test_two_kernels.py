"""One coder with the same study open in two notebooks: every acknowledged act is there exactly once."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from tests.helpers.places import ROOT

pytestmark = pytest.mark.crash

N_BATCHES = 2_000 if os.environ.get("SOAK") else 100
CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))

OPEN = """
import json, random, warnings
warnings.simplefilter("ignore")
from sense7_qual import acts
from sense7_qual.acts import Act
from sense7_qual.store import Store

store = Store({path!r})
def span(start, end, **what):
    return acts.apply(coder="ana", unit_id="m1", code="interest", start=start, end=end,
                      codebook=store.codebook, **what)

def batch(size):
    return [span(i, i + 9) for i in range(size)]
"""

# Batches of its own, and between them ones that the other notebook sends as well, with the same ids: as
# when a save was sent again from another tab. Prints what was acknowledged.
WRITE = """
dice, said = random.Random({seed}), []
for number in range({n_batches}):
    own = batch(dice.choice((1, 2, 5)))
    store.append(own)
    said += [act.act_id for act in own]
    act_id = f"00000000-0000-4000-8000-{{number:012d}}"
    both = [span(0, number % 50 + 1, at="2026-03-01T09:00:00.000Z", act_id=act_id)]
    store.append(both)
    said += [act.act_id for act in both]
print(json.dumps(said))
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    units = pd.DataFrame(
        {
            "unit_id": ["m1"],
            "text": ["It listened to me. " * 5],
            "document_id": ["d1"],
            "case_id": ["p1"],
            "position": [0],
        }
    )
    return Store.create(tmp_path / "pilot", units=units, codebook=CODEBOOK)


@pytest.fixture
def kernels(store: Store) -> Iterator[list[BlockingKernelClient]]:
    """Two kernels in which the study is open."""
    managers = [KernelManager(kernel_name="python3") for _ in range(2)]
    clients = []
    for manager in managers:
        manager.start_kernel(cwd=str(ROOT))
        clients.append(manager.blocking_client())
        clients[-1].start_channels()
    for client in clients:
        client.wait_for_ready(timeout=300)
        printed(client, client.execute(OPEN.format(path=str(store.path))))
    yield clients
    for client, manager in zip(clients, managers, strict=True):
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def printed(client: BlockingKernelClient, request: str) -> str:
    """Wait for a cell, which must not fail, and return what it printed."""
    text = ""
    while True:
        message = client.get_iopub_msg(timeout=600)
        if message["parent_header"].get("msg_id") != request:
            continue
        if message["msg_type"] == "stream":
            text += message["content"]["text"]
        assert message["msg_type"] != "error", message["content"]["ename"]
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            return text


def test_one_coder_in_two_kernels_has_every_act_exactly_once(
    store: Store, kernels: list[BlockingKernelClient]
) -> None:
    cells = [
        (kernel, kernel.execute(WRITE.format(seed=seed, n_batches=N_BATCHES)))
        for seed, kernel in enumerate(kernels)
    ]
    said = [json.loads(printed(*cell)) for cell in cells]
    found = [act.act_id for act in store.acts()]
    print(f"\ntwo kernels: {sum(map(len, said)):,} acknowledgements of {len(found):,} acts, each there once")
    assert Counter(found) == Counter({act_id: 1 for each in said for act_id in each})
    assert len(set(said[0]) & set(said[1])) == N_BATCHES
    for each in said:
        own = set(each) - (set(said[0]) & set(said[1]))
        assert [act_id for act_id in found if act_id in own] == [act_id for act_id in each if act_id in own]
    assert store.verify()["ok"].all()
    assert store.append([acts.finish(coder="ana", unit_id="m1", codebook=CODEBOOK)]) == 1
