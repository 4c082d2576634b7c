"""A study in PostgreSQL: it behaves as one in a folder does, and survives what only a network does to it."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from sqlalchemy import Connection

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, StoreError, TableError
from sense7_qual.store import Store
from sense7_qual.store._postgres import roles, server
from sense7_qual.widgets import CodingWidget
from tests.helpers.any_study import (
    test_a_new_study_holds_what_it_was_given,
    test_a_second_store_sees_and_continues_the_first,
    test_a_span_gets_its_quote_in_code_points,
    test_acts_come_coder_by_coder_in_the_order_of_recording,
    test_no_text_is_shown_by_the_store_or_its_acts,
    test_reading_asks_for_a_real_kind_and_pseudonym,
    test_the_units_handed_out_are_a_copy,
    test_undo_names_an_earlier_act_of_the_same_coder,
    test_what_is_appended_comes_back_from_the_disk,
)
from tests.helpers.browser import OfStudy
from tests.helpers.nightly import nightly_but
from tests.helpers.small_study import CODEBOOK, REFUSED, SENTINEL, changed, finish, frame_of, put

pytestmark = pytest.mark.postgres

SHARED = [
    test_a_new_study_holds_what_it_was_given,
    test_a_second_store_sees_and_continues_the_first,
    test_a_span_gets_its_quote_in_code_points,
    test_acts_come_coder_by_coder_in_the_order_of_recording,
    test_no_text_is_shown_by_the_store_or_its_acts,
    test_reading_asks_for_a_real_kind_and_pseudonym,
    test_the_units_handed_out_are_a_copy,
    test_undo_names_an_earlier_act_of_the_same_coder,
    test_what_is_appended_comes_back_from_the_disk,
]

Address = Callable[..., str]
N_CUT_ACTS = 1_000 if os.environ.get("SOAK") else 100


@pytest.fixture
def store(postgres: Address) -> Iterator[Store]:
    made = Store.create(postgres(), units=frame_of(), codebook=CODEBOOK)
    yield made
    server.connect(made.path).engine.dispose()


def test_the_shared_behaviour_runs_here() -> None:
    assert all(case.__name__ in globals() for case in SHARED)


def test_repeats_change_nothing(store: Store) -> None:
    deeds = [put(start=0, end=2), finish()]
    assert store.append(deeds) == 2
    before = store.acts()
    later = changed(deeds[1], at="2030-01-01T00:00:00.000Z")
    assert store.append(deeds) == store.append(store.acts()) == store.append([later]) == 0
    assert store.acts() == before
    twice = put(code="relational")
    assert store.append([twice, twice]) == 1
    assert store.append([]) == 0


@pytest.mark.parametrize(
    ("make", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_an_act_that_cannot_stand_is_refused_with_its_whole_batch(
    study: Store, make: Callable[[], list[acts.Act]], message: str
) -> None:
    before, wrong = study.acts(), make()
    batch = [finish("m3", wrong[0].coder), *wrong] if isinstance(wrong, list) else wrong
    with pytest.raises(ActError, match=message) as refused:
        study.append(batch)
    assert SENTINEL not in f"{refused.value} {refused.value!r}"
    assert study.acts() == before


@pytest.fixture(scope="module")
def study(postgres: Address) -> Iterator[Store]:
    """One study for all acts that must not change it."""
    made = Store.create(postgres(), units=frame_of(), codebook=CODEBOOK)
    made.append([put(coder="kim")])
    made.append([put()])
    yield made
    server.connect(made.path).engine.dispose()


def test_threads_write_one_coders_acts_without_losing_one(store: Store) -> None:
    batches = [[put(start=0, end=i + 1), finish()] for i in range(24)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(store.append, batches)) == [2] * 24
    assert {act.act_id for act in store.acts()} == {act.act_id for batch in batches for act in batch}
    verified = store.verify()
    assert verified["ok"].all()
    assert verified[["coder", "n_acts"]].dropna().to_numpy().tolist() == [["ana", 48]]


def test_a_coder_whom_another_session_has_just_made_is_written_to(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another session makes the coder after this one has found none, and before it would make one."""
    leads, turns = roles.leads, itertools.count()

    def leads_late(connection: Connection, at: server.Server) -> bool:
        if next(turns) == 0:
            assert store.append([put(start=0, end=1)]) == 1
        return leads(connection, at)

    monkeypatch.setattr(roles, "leads", leads_late)
    assert store.append([put(start=0, end=2)]) == 1
    assert len(store.acts(coder="ana")) == 2


def test_two_threads_make_the_same_coder(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both find no such coder before either has made it, and one makes it after the other has."""
    both, done, turns = threading.Barrier(2), threading.Event(), itertools.count()
    lock = roles.keep_withdrawals_out

    def lock_in_turn(connection: Connection, at: server.Server) -> None:
        if (turn := next(turns)) < 2:
            both.wait(10)
        if turn == 1:
            done.wait(10)
        lock(connection, at)

    def send(batch: list[acts.Act]) -> int:
        n_new = store.append(batch)
        done.set()
        return n_new

    monkeypatch.setattr(roles, "keep_withdrawals_out", lock_in_turn)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(send, [[put(start=0, end=1)], [finish()]])) == [1, 1]
    assert store.coders == ("ana",)


def test_one_act_id_stands_for_one_act(store: Store) -> None:
    act = put(start=0, end=2)
    store.append([act])
    before = store.acts()
    for other in (changed(act, code="affective"), changed(act, start=1, text=None), finish()):
        with pytest.raises(ActError, match="to name one act"):
            store.append([put(), changed(other, act_id=act.act_id)])
    assert store.acts() == before


# addresses and passwords ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (f"postgresql://ana:{SENTINEL}@db/lab", "expected an address without a password"),
        (f"postgresql://ana@db/lab?password={SENTINEL}", "expected an address without a password"),
        (f"postgresql://ana:{SENTINEL}@db:port/lab", "one that cannot be read"),
        ("postgresql://db/lab", "without a role or a database"),
        ("postgresql://ana@db/lab?study=Pilot-1", "found study 'Pilot-1'"),
    ],
)
def test_an_address_has_a_role_a_database_a_study_and_no_password(address: str, message: str) -> None:
    with pytest.raises(StoreError, match=message) as refused:
        Store(address)
    assert SENTINEL not in f"{refused.value!r} {refused.value.__cause__!r}"
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_a_password_comes_from_the_environment_or_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring
    from keyring.backend import KeyringBackend

    class Kept(KeyringBackend):
        priority = 1

        def get_password(self, service: str, username: str) -> str | None:
            return SENTINEL if (service, username) == ("sense7_qual", "ana@db.example.org/lab") else None

        def set_password(self, service: str, username: str, password: str) -> None: ...
        def delete_password(self, service: str, username: str) -> None: ...

    given: list[object] = []

    def asked(address: str) -> object:
        """What the driver is given as a password."""
        engine = server.connect(address).engine
        parameters: dict[str, object] = {}
        for listener in engine.dialect.dispatch.do_connect:
            listener(engine.dialect, None, [], parameters)
        return parameters.get("password")

    before = keyring.get_keyring()
    keyring.set_keyring(Kept())
    try:
        given.append(asked("postgresql://ana@db.example.org/lab"))
        given.append(asked("postgresql://ben@db.example.org/lab"))
        monkeypatch.setenv("PGPASSWORD", "other")
        given.append(asked("postgresql://ana@db.example.org/lab"))
    finally:
        keyring.set_keyring(before)
    assert given == [SENTINEL, None, None]  # libpq itself takes PGPASSWORD


def test_a_study_that_is_not_there_or_there_already_is_refused(store: Store, postgres: Address) -> None:
    with pytest.raises(StoreError, match="expected a study that this role may open – found none"):
        Store(postgres())
    with pytest.raises(StoreError, match="expected no schema of this name yet"):
        Store.create(store.path, units=frame_of(), codebook=CODEBOOK)
    with pytest.raises(TableError, match="found none in unit"):
        Store.create(postgres(), units=frame_of().assign(text=None), codebook=CODEBOOK)


def test_a_refused_first_batch_makes_no_coder(store: Store) -> None:
    with pytest.raises(ActError, match="no such act"):
        store.append([acts.undo(put(), codebook=CODEBOOK)])
    assert store.coders == ()


def test_a_server_that_does_not_answer_is_said_so_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PATIENCE", 0.3)
    with pytest.raises(StoreError, match="no answer from the server"):
        Store("postgresql://ana@127.0.0.1:1/lab")


# the network ----------------------------------------------------------------------------------------


class Proxy:
    """A TCP proxy before the server's socket, which cuts connections: `cut` is the share of packets."""

    def __init__(self, address: str, cut: float = 0.0, seed: int = 7) -> None:
        self.target = re.search(r"host=([^&]+)", address)[1] + "/.s.PGSQL.5432"
        self.cut, self.n_cut, self.dice = cut, 0, random.Random(seed)
        self.commits_until_cut = 0  # the answer to so-and-so-many-th COMMIT is lost
        self.unanswered: set[socket.socket] = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.open: set[socket.socket] = set()
        self.address = re.sub(
            r"@/(\w+)\?host=[^&]+&", rf"@127.0.0.1:{self.listener.getsockname()[1]}/\1?", address
        )
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # no 40 ms before a small packet
                far = socket.socket(socket.AF_UNIX)
                far.connect(self.target)
                self.open |= {near, far}
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if self.commits_until_cut and b"COMMIT" in data:
                    self.commits_until_cut -= 1
                    if not self.commits_until_cut:
                        self.unanswered.add(source)
                if target in self.unanswered:
                    break
                if self.dice.random() < self.cut:
                    self.n_cut += 1
                    if self.dice.random() < 0.5:  # half of the cuts come after the packet has arrived
                        target.sendall(data)
                    break
                target.sendall(data)
        self._close(source, target)

    def _close(self, *sockets: socket.socket) -> None:
        for each in sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
            self.open.discard(each)
            self.unanswered.discard(each)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self._close(*self.open)


@pytest.fixture
def proxy(store: Store) -> Iterator[Proxy]:
    proxy = Proxy(str(store.path))
    yield proxy
    server.connect(proxy.address).engine.dispose()
    proxy.close()


@pytest.mark.crash
def test_cut_connections_lose_nothing_and_double_nothing(
    store: Store, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = SimpleNamespace(monotonic=time.monotonic, sleep=lambda seconds: time.sleep(seconds / 10))
    monkeypatch.setattr(server, "time", impatient)
    through = Store(proxy.address)
    store.admin.add_coder("ana")
    proxy.cut = 0.02
    deeds = [put(start=i % 9, end=i % 9 + 1 + i // 9 % 3, confidence="sure") for i in range(N_CUT_ACTS)]
    assert len({act.act_id for act in deeds}) == N_CUT_ACTS
    new = [through.append([act]) for act in deeds]
    proxy.cut = 0
    assert proxy.n_cut > 50
    assert [act.act_id for act in store.acts()] == [act.act_id for act in deeds]
    assert sum(new) <= N_CUT_ACTS  # where the answer alone was lost, the second sending finds the act there
    assert store.verify()["ok"].all()


@pytest.mark.nightly
@pytest.mark.crash
def test_every_deed_is_done_once_where_the_answer_to_a_commit_is_lost(
    store: Store, proxy: Proxy, postgres: Address, tmp_path: Path
) -> None:
    """After such a cut nobody knows whether the deed was done; it is done again, and finds that it was."""
    assert [store.append([put(coder=coder)]) for coder in ("ana", "ben")] == [1, 1]
    store.copies.archive(tmp_path / "one.zip")
    copy = Store.restore(tmp_path / "one.zip", tmp_path / "copy")
    through = Store(proxy.address)
    numbers = iter(range(1000))

    def another() -> str:
        return re.sub(r"study=\w+", f"study=s_{uuid.uuid4().hex[:8]}", proxy.address)

    def merge() -> object:
        copy.append([put(coder="ben", start=next(numbers) % 9, end=9 + next(numbers) % 9)])
        return through.copies.merge(copy)

    def revised() -> Codebook:
        codes = (*through.codebook.codes, Code(id=f"code-{next(numbers)}", label="New"))
        return replace(through.codebook, codes=codes)

    deeds: dict[str, Callable[[], object]] = {
        "create": lambda: Store.create(another(), units=frame_of(), codebook=CODEBOOK),
        "restore": lambda: Store.restore(tmp_path / "one.zip", another()).acts(),
        "add_coder": lambda: through.admin.add_coder(f"coder-{next(numbers)}"),
        "append": lambda: through.append([finish()]),
        "append for a new coder": lambda: through.append([put(coder=f"new-{next(numbers)}")]),
        "revise": lambda: through.revise(revised(), why="x", coder="lead"),
        "merge": merge,
        "archive": lambda: through.copies.archive(tmp_path / f"{next(numbers)}.zip"),
        "backup": lambda: through.copies.backup(tmp_path / f"{next(numbers)}.zip"),
        "forget": lambda: through.forget("p1", why="withdrew"),
        "verify": lambda: through.verify()["ok"].all() or pytest.fail("not sound"),
    }
    for name, deed in deeds.items():
        for commit in range(1, 12):
            proxy.commits_until_cut = commit
            deed()
            if proxy.commits_until_cut:  # it has fewer
                break
        assert commit > 1, name
        assert store.verify()["ok"].all(), name
    proxy.commits_until_cut = 0
    ids = [act.act_id for act in store.acts()]
    assert len(set(ids)) == len(ids)
    assert {act.act_id for act in copy.acts()} <= set(ids)
    assert store.verify()["note"].str.contains("archive of|backup of").sum() == len(
        list(tmp_path.glob("*.zip"))
    )


@pytest.mark.crash
def test_a_lost_server_shows_not_saved_and_the_widget_recovers_by_itself(
    store: Store, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PATIENCE", 0.3)
    through = Store(proxy.address)
    widget = CodingWidget(store.units, CODEBOOK, coder="ana", acts=[], save=through.append)
    answers: list[dict[str, object]] = []
    monkeypatch.setattr(widget, "send", answers.append)
    deed = {"kind": "apply", "unit_id": "m1", "code": "interest", "start": None, "end": None}
    message = {"type": "act", "id": str(uuid.uuid4()), "client": "c1", "act": deed}
    proxy.cut = 1
    widget._receive(widget, message, None)
    assert answers[-1]["type"] == "failed"  # the browser shows “Not saved”, and sends it again
    assert SENTINEL not in str(answers[-1])
    assert store.acts() == []
    proxy.cut = 0
    widget._receive(widget, message, None)
    assert answers[-1]["type"] == "done"
    assert [act.act_id for act in store.acts()] == [message["id"]]


@pytest.mark.crash
@pytest.mark.parametrize("n", nightly_but([30, 100], here=[30]))
def test_sixteen_coders_write_at_once(store: Store, postgres: Address, n: int) -> None:
    coders = [f"coder{i}" for i in range(16)]
    for coder in coders:
        store.admin.add_coder(coder, role=coder)
    name = str(store.path).rpartition("=")[2]
    stores = {coder: Store(postgres(coder, name)) for coder in coders}
    deeds = {c: [put(coder=c, start=i % 9, end=i % 9 + 1 + i // 9) for i in range(n - 10)] for c in coders}
    rest = {c: [finish(coder=c, unit_id=("m1", "m2")[i % 2]) for i in range(10)] for c in coders}

    def work(coder: str) -> int:
        return sum(stores[coder].append([act]) for act in deeds[coder] + rest[coder])

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(work, coders)) == [n] * 16
    for coder in coders:
        expected = [act.act_id for act in deeds[coder] + rest[coder]]
        assert [act.act_id for act in store.acts(coder=coder)] == expected
        server.connect(str(stores[coder].path)).engine.dispose()
    assert store.verify()["n_acts"].dropna().tolist() == [n] * 16
    assert store.verify()["ok"].all()


def test_a_forked_process_does_not_speak_over_its_parents_connection(store: Store) -> None:
    store.append([put()])
    child = os.fork()
    if not child:
        try:
            done = store.append([put(code="affective")])
        finally:
            os._exit(0 if done == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert store.append([put(code="relational")]) == 1
    assert len(store.acts()) == 3


def test_a_role_that_is_no_superuser_can_lead_a_study(postgres: Address) -> None:
    address = postgres()
    with psycopg.connect(address.partition("&study=")[0], autocommit=True) as admin:
        admin.execute("CREATE ROLE plain_lead LOGIN CREATEROLE")
        admin.execute("GRANT CREATE ON DATABASE postgres TO plain_lead")
    name = address.rpartition("=")[2]
    store = Store.create(postgres("plain_lead", name), units=frame_of(), codebook=CODEBOOK)
    store.admin.add_coder("dora", role="dora")
    dora = Store(postgres("dora", name))
    assert dora.append([put(coder="dora", start=0, end=2)]) == 1
    assert store.append([put(coder="model-1")]) == 1
    assert dora.coders == ("dora",)
    assert store.coders == ("dora", "model-1")
    assert [act.text for act in store.acts(coder="dora")] == [frame_of()["text"][0][:2]]
    for one in (store, dora):
        server.connect(str(one.path)).engine.dispose()


def test_a_coder_who_does_not_lead_sees_the_plan_and_registers_none(store: Store, postgres: Address) -> None:
    name = str(store.path).partition("&study=")[2]
    store.admin.add_coder("ana", role="ana")
    plan = acts.contents.AnalysisPlan(question="What makes an answer empathic?")
    registered = store.preregister(plan, coder="lead")
    ana = Store(postgres("ana", name))
    assert ana.preregistrations == (registered,)
    with pytest.raises(StoreError, match="expected a role with the right to do this"):
        ana.preregister(replace(plan, n_units=2), coder="ana")
    assert Store(store.path).preregistrations == (registered,)
    server.connect(str(ana.path)).engine.dispose()


def test_a_coder_who_does_not_lead_proposes_where_others_add_codes(store: Store, postgres: Address) -> None:
    """Who may revise: a leading role alone, whatever the lead settled for the coders."""
    name = str(store.path).partition("&study=")[2]
    store.admin.add_coder("ana", role="ana")
    store.set_options(new_codes="add", coder="lead")
    ana = Store(postgres("ana", name))
    assert (store.desk.may_revise, ana.desk.may_revise) == (True, False)
    browser = OfStudy(ana)
    assert browser.ask("hello")["new_codes"] == "propose"
    first = ana.units["unit_id"].iloc[0]
    wished = {"label": "Hope", "definition": "", "unit_id": first, "start": None, "end": None}
    answer = browser.ask("add_code", **wished)
    assert (answer["type"], "send it to the lead as a proposal" in answer["message"]) == ("refused", True)
    browser.do("propose", first, label="Hope", definition="Looks forward.", start=0, end=2)
    (proposal,) = store.proposals().to_dict("records")
    assert (proposal["coder"], proposal["label"], proposal["unit_id"]) == ("ana", "Hope", first)
    with pytest.raises(StoreError, match="which does not lead"):
        ana.revise(replace(CODEBOOK, title="Hers"), why="So.", coder="ana")
    assert Store(store.path).codebook == CODEBOOK

    # What the lead makes of it reaches her widget, which takes it in.
    lead = OfStudy(store, coder="lead")
    assert lead.ask("hello")["new_codes"] == "add"
    assert lead.ask("add_code", **wished)["code"] == "hope"
    assert browser.ask("unit", place=0)["newer"] is True
    assert browser.ask("take_codebook", agreed=None)["words"] == "‘Hope’ is new"
    assert browser.do("apply", first, code="hope")["type"] == "done"
    assert [act.code for act in store.acts(coder="ana", kind="apply")] == ["hope"]
    server.connect(str(ana.path)).engine.dispose()
