"""One coder with the same study open in two notebooks: every acknowledged act is there exactly once, and no
text is finished over codings that its window did not show."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

from sense7_qual import acts, corpus
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from tests.helpers.places import ROOT

pytestmark = [pytest.mark.nightly, pytest.mark.crash]

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


# A widget of the same coder in each kernel, with what its window shows of each text. Prints what the window
# showed at each finish, what it did and took back, and how often it was told to look again.
CODE = """
import uuid
from pathlib import Path
from sense7_qual.widgets import CodingWidget

widget, dice, answers = CodingWidget(store, coder="ana"), random.Random({seed}), []
finished, taken_back, own, again, view = {{}}, [], [], 0, {{}}

def send(kind, **message):
    answers.clear()
    widget.send = lambda content, buffers=None: answers.append(content)
    act_id = str(uuid.UUID(int=dice.getrandbits(128), version=4))
    widget._receive(widget, {{"type": kind, "client": "c", "id": act_id, **message}}, [])
    *told, answer = answers
    if "unit" in answer:
        view[answer["unit"]["unit_id"]] = answer["unit"]
    for place in [place for one in told for place in one["places"]]:
        send("unit", place=place, peek=True)
    return act_id, answer

def codings(unit_id):
    return {{(one["code"], one["start"], one["end"]) for one in view[unit_id]["codings"]}}

for place in range(widget.n_units):
    send("unit", place=place, peek=True)
# One window may do most of its presses while the other does none: both go on until each was told once.
looked_again = [Path({folder!r}, f"looked-again-{{window}}") for window in range(2)]
n_pressed = 0
while n_pressed < {n_presses} or (n_pressed < {at_most} and not all(path.exists() for path in looked_again)):
    n_pressed += 1
    unit_id = dice.choice(sorted(view))
    shows, seen = codings(unit_id), view[unit_id]["n_acts"]
    what = dice.choice(["apply", "apply", "remove", "finish", "burst", "undo", "redo"])
    coding = ("interest", *dice.choice([(None, None), (0, 2), (3, 8), (9, 11)]))
    named = dict(zip(("code", "start", "end"), coding))
    if what in ("undo", "redo"):
        act_id, answer = send("act", act={{"kind": what}})
        taken_back += [act_id] if answer["type"] == "done" else []
        continue
    if what in ("apply", "remove", "burst"):
        kind = "remove" if what == "remove" else "apply"
        own.append(send("act", act={{"kind": kind, "unit_id": unit_id, **named}})[0])
        shows, seen = shows | {{coding}}, seen + 1
    if what in ("finish", "burst"):  # a burst ends before its first press is answered
        act_id, answer = send("act", act={{"kind": "finish", "unit_id": unit_id, "seen": seen}})
        if answer["type"] == "refused":
            again += 1
            looked_again[{seed}].touch()
        if answer["type"] == "done":
            own.append(act_id)
            finished[act_id] = sorted(shows, key=str)
print(json.dumps({{"finished": finished, "taken_back": taken_back, "own": own, "again": again}}))
"""

LOOK = """
send("act", act={"kind": "memo", "target_kind": "study", "text": "The end."})
print(json.dumps({unit_id: sorted(codings(unit_id), key=str) for unit_id in view}))
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "comments.csv").write_text(
        "comment,id\n" + f"{'It listened to me. ' * 5},m1\nSo kind of it.,m2\n"
    )
    units = corpus.read(tmp_path / "comments.csv", text="comment", unit_id="id")
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


def test_no_window_of_a_coder_finishes_a_text_over_codings_of_the_other_that_it_did_not_show(
    store: Store, kernels: list[BlockingKernelClient]
) -> None:
    filled = {"n_presses": N_BATCHES, "at_most": 50 * N_BATCHES, "folder": str(Path(store.path).parent)}
    cells = [
        (kernel, kernel.execute(CODE.format(seed=seed, **filled))) for seed, kernel in enumerate(kernels)
    ]
    said = [json.loads(printed(*cell)) for cell in cells]
    shown = said[0]["finished"] | said[1]["finished"]
    whose = {act_id: window for window, one in enumerate(said) for act_id in one["own"]}
    stood, recorded = {}, store.acts(coder="ana")
    for n, act in enumerate(recorded):
        if act.kind == "finish":
            stood[act.act_id] = _standing(recorded[:n], str(act.unit_id))
        if act.kind == "undo":
            window = next(n for n, one in enumerate(said) if act.act_id in one["taken_back"])
            assert whose[str(act.target)] == window
    again = [one["again"] for one in said]
    print(f"\ntwo windows: {len(shown)} texts finished, {again} times told to look again first")
    assert stood == {act_id: [tuple(coding) for coding in codings] for act_id, codings in shown.items()}
    assert min(again) > 0
    windows = [json.loads(printed(kernel, kernel.execute(LOOK))) for kernel in (*kernels, kernels[0])]
    now = {unit_id: _standing(recorded, unit_id) for unit_id in ("m1", "m2")}
    for window in windows:
        assert {unit_id: [tuple(one) for one in codings] for unit_id, codings in window.items()} == now


def _standing(recorded: list[acts.Act], unit_id: str) -> list[tuple[object, ...]]:
    """Return code, start and end of the codings that stand on a text after these acts."""
    now = acts.standing([act for act in recorded if act.unit_id == unit_id])
    return sorted(((act.code, act.start, act.end) for act in now if act.kind == "apply"), key=str)
