"""`sense7-qual seat`: a coder comes and goes by one command, and no seat is ever had by two."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from sense7_qual import acts
from sense7_qual._commands import main
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.small_study import CODEBOOK, frame_of, put

pytestmark = pytest.mark.postgres
Address = Callable[..., str]
N_SEATS = 20


@pytest.fixture
def admin(postgres: Address) -> Iterator[psycopg.Connection]:
    """The administrator, who made the seats and a lead who may end them."""
    with psycopg.connect(postgres().partition("&study=")[0], autocommit=True) as connection:
        for name, options in [("the_lead", "CREATEROLE"), *((f"seat{n:02}", "") for n in range(1, N_SEATS))]:
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)).fetchone():
                connection.execute(f"CREATE ROLE {name} LOGIN {options}")
            if name.startswith("seat") and connection.info.server_version >= 160000:
                connection.execute(f"GRANT {name} TO the_lead WITH ADMIN TRUE, INHERIT FALSE, SET FALSE")
        connection.execute("GRANT CREATE ON DATABASE postgres TO the_lead")
        yield connection


@pytest.fixture
def store(admin: psycopg.Connection, postgres: Address) -> Iterator[Store]:
    store = Store.create(postgres("the_lead"), units=frame_of(), codebook=CODEBOOK)
    yield store
    server.connect(str(store.path)).engine.dispose()


@pytest.fixture
def seat(store: Store, tmp_path: Path) -> Callable[..., int]:
    return lambda *words: main(["seat", str(store.path), "--logins", str(tmp_path / "coders.csv"), *words])


def as_seat(postgres: Address, store: Store, name: str) -> Store:
    return Store(postgres(name, str(store.path).rpartition("=")[2]))


def can_login(admin: psycopg.Connection, name: str) -> bool:
    return admin.execute("SELECT rolcanlogin FROM pg_roles WHERE rolname = %s", (name,)).fetchone() == (True,)


def test_a_coder_comes_codes_and_goes(store, seat, postgres, admin, tmp_path, capsys) -> None:
    logins = tmp_path / "coders.csv"
    logins.write_text("# the lead's\nlogin,seat\n", "utf-8")
    logins.chmod(0o644)
    assert seat("--login", "ada.l", "--coder", "ana") == 0
    *before, line = logins.read_text("utf-8").splitlines()
    assert before == ["# the lead's", "login,seat"]
    login, own = line.split(",")
    assert login == "ada.l"
    assert logins.stat().st_mode & 0o777 == 0o600
    printed = capsys.readouterr()
    assert "ada" not in printed.out + printed.err
    ana = as_seat(postgres, store, own)
    assert ana.append([put("interest")]) == 1
    server.connect(str(ana.path)).engine.dispose()
    assert seat("--login", "Ada.L ", "--coder", "ana") == 0  # again: nothing changes
    assert logins.read_text("utf-8").splitlines() == [*before, line]
    assert seat("--end", "ana") == 0
    assert seat("--end", "ana") == 0
    assert logins.read_text("utf-8").splitlines() == before
    assert not can_login(admin, own)
    with pytest.raises(StoreError):
        as_seat(postgres, store, own)
    assert [act.code for act in store.acts(coder="ana")] == ["interest"]
    assert seat("--login", "ada.l", "--coder", "ana") == 1
    assert f"'ana' had {own}, which has ended" in capsys.readouterr().err
    assert store.verify()["ok"].all()


def test_no_seat_is_had_by_two(store, seat, postgres, tmp_path, capsys) -> None:
    """Not after its coder has left, not by another login, and not in the next study on this server."""
    assert seat("--login", "ada.l", "--coder", "ana") == 0
    assert seat("--end", "ana") == 0
    assert seat("--login", "ben.k", "--coder", "ben") == 0
    assert seat("--login", "cleo", "--coder", "ben") == 1
    assert "'ben' has seat" in (said := capsys.readouterr().err)
    assert "ben.k" not in said
    assert seat("--login", "BEN.K", "--coder", "dee") == 1
    assert "end the coder who has it" in capsys.readouterr().err
    assert store.coders == ()
    second = Store.create(postgres("the_lead"), units=frame_of(), codebook=CODEBOOK)
    other = str(tmp_path / "second.csv")
    assert main(["seat", str(second.path), "--logins", other, "--login", "eve", "--coder", "ana"]) == 0
    lines = [*(tmp_path / "coders.csv").read_text().splitlines(), *Path(other).read_text().splitlines()]
    assert len({line.split(",")[1] for line in lines}) == 2
    assert "ana" not in (tmp_path / "coders.csv").read_text()
    server.connect(str(second.path)).engine.dispose()


def test_what_was_begun_is_completed(store, seat, admin, tmp_path, capsys) -> None:
    free = store.desk.seats("ana").free
    (tmp_path / "coders.csv").write_text(f"ada.l,{free[3]}\n", "utf-8")  # a line that the lead wrote
    assert seat("--login", "ada.l", "--coder", "ana") == 0
    assert store.desk.seats("ana").own == free[3]
    (tmp_path / "coders.csv").unlink()  # the line was lost
    assert seat("--login", "ada.l", "--coder", "ana") == 0
    assert (tmp_path / "coders.csv").read_text("utf-8") == f"ada.l,{free[3]}\n"
    admin.execute(f"REVOKE {free[3]} FROM the_lead")
    if admin.info.server_version >= 160000:  # before, who makes roles ends any
        assert seat("--end", "ana") == 1
        assert f'Let an administrator run: ALTER ROLE "{free[3]}" NOLOGIN' in capsys.readouterr().err
        assert (tmp_path / "coders.csv").read_text("utf-8") == ""  # nobody is let in by the hub from now on


def test_a_restored_coder_gets_a_seat(seat, store, postgres, tmp_path) -> None:
    """After a restore every coder is the lead's own; the seat then writes as that coder, and alone."""
    store.append([put("interest", coder="ana")])
    store.append([put("relational", coder="ben")])
    assert seat("--login", "ada.l", "--coder", "ana") == 0
    ana = as_seat(postgres, store, store.desk.seats("ana").own)
    assert ana.coders == ("ana",)
    ana.append([acts.finish(coder="ana", unit_id="m1", codebook=CODEBOOK)])
    with pytest.raises(StoreError, match="found acts of 'ben'"):
        ana.append([acts.finish(coder="ben", unit_id="m1", codebook=CODEBOOK)])
    server.connect(str(ana.path)).engine.dispose()


def test_where_every_seat_was_given_an_administrator_makes_more(store, seat, admin, capsys) -> None:
    for name in store.desk.seats("ana").free:
        admin.execute(f"DROP ROLE {name}")
    assert seat("--login", "ada.l", "--coder", "ana") == 1
    assert "no seat is left, since each is given once" in capsys.readouterr().err
    assert store.desk.seats("ana").own == ""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--login", "ada.l"], "name both --login and --coder"),
        (["--end", "ana", "--coder", "ana"], "name both --login and --coder"),
        (["--login", "a,lead", "--coder", "ana"], "expected a login without comma"),
        (["--login", "a\nlead,seat01", "--coder", "ana"], "expected a login without comma"),
        (["--login", "#a", "--coder", "ana"], "expected a login without comma"),
        (["--login", "ada.l", "--coder", "an a"], "expected a pseudonym"),
        (["--login", "ada.l", "--coder", "model-x"], "expected a person's pseudonym"),
        (["--end", "nobody"], "found 'nobody' without a role"),
        (["--end", "postgres"], "found 'postgres' without a role"),
    ],
)
def test_bad_words_change_nothing(seat, tmp_path, capsys, words: list[str], says: str) -> None:
    assert seat(*words) == 1
    assert says in capsys.readouterr().err
    assert not (tmp_path / "coders.csv").exists()


def test_a_file_that_the_hub_would_not_read_is_refused(store, seat, tmp_path, capsys) -> None:
    logins = tmp_path / "coders.csv"
    (tmp_path / "elsewhere").write_text("treasure")
    logins.symlink_to(tmp_path / "elsewhere")
    for make in (
        lambda: None,
        lambda: logins.write_bytes(b"\xff\xfe"),
        lambda: logins.write_bytes(b"#" * 70_000),
    ):
        make()
        assert seat("--login", "ada.l", "--coder", "ana") == 1
        assert "the hub would not read it either" in capsys.readouterr().err
        logins.unlink()
    assert (tmp_path / "elsewhere").read_text() == "treasure"
    assert store.desk.seats("ana").own == ""


def test_a_folder_has_no_seats(tmp_path, capsys) -> None:
    Store.create(tmp_path / "study", units=frame_of(), codebook=CODEBOOK)
    for words in (["--login", "ada.l", "--coder", "ana"], ["--end", "ana"]):
        assert main(["seat", str(tmp_path / "study"), "--logins", str(tmp_path / "coders.csv"), *words]) == 1
        assert "found a folder, where no server keeps coders apart" in capsys.readouterr().err
    with pytest.raises(StoreError, match="nobody signs in there"):
        Store(tmp_path / "study").admin.end_coder("ana")
