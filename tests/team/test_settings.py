"""The settings of a team's server as values, and which lines of `coders.csv` count: no hub, no root."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.helpers.places import ROOT

DEPLOY: Final = ROOT / "deploy"
sys.path.insert(0, str(DEPLOY))
from seats import LARGEST, normal, seats  # type: ignore[import-not-found]  # noqa: E402
from tries import Tries  # type: ignore[import-not-found]  # noqa: E402

SCOPES: Final = ["access:servers!user", "read:users!user", "servers!user", "users:activity!user"]
OWN: Final = os.getuid() if hasattr(os, "getuid") else 0


def written(folder: Path, *lines: str, mode: int = 0o600) -> Path:
    """Write the lines as the lead would."""
    path = folder / "coders.csv"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    path.chmod(mode)
    return path


def test_lines_of_a_login_and_a_seat_count(tmp_path: Path) -> None:
    path = written(tmp_path, "login,seat", "# of the pilot", "", "Ada.L, seat07 ", "bob@k.example,seat08")
    assert seats(path, OWN) == ({"ada.l": "seat07", "bob@k.example": "seat08"}, [])
    assert seats(tmp_path / "nothing.csv", OWN) == ({}, [])


@pytest.mark.parametrize(
    "line",
    [
        "x,root",
        "x,lead",
        "x,seat7",
        "x,seat007",
        "x,SEAT07",
        "x,seat07,root",
        "x,seat07/../lead",
        "x;seat07",
        "x",
        "x,",
        ",seat07",
        "x,seat０7",
        "x,postgres",
        "x,seat07 lead",
    ],
)
def test_a_line_to_anything_but_a_seat_is_refused_and_not_repeated(tmp_path: Path, line: str) -> None:
    found, wrong = seats(written(tmp_path, "ada.l,seat01", line), OWN)
    assert found == {"ada.l": "seat01"}
    assert wrong == ["line 2: expected a login, a comma and a seat such as seat07"]


def test_a_login_or_a_seat_that_is_named_twice_lets_nobody_in(tmp_path: Path) -> None:
    path = written(tmp_path, "ada,seat01", "bob,seat02", "ADA,seat03", "cleo,seat02", "dee,seat04")
    found, wrong = seats(path, OWN)
    assert found == {"dee": "seat04"}
    assert [each.partition(":")[0] for each in wrong] == ["line 1", "line 2", "line 3", "line 4"]


def test_letters_that_only_look_alike_are_other_logins() -> None:
    assert normal(" Ada.L ") == "ada.l"
    assert normal("\u212aim") != normal("kim")  # the Kelvin sign, whose lower case is a k


def test_a_file_that_others_could_write_or_read_is_not_read(tmp_path: Path) -> None:
    path = written(tmp_path, "ada.l,seat01", mode=0o644)
    with pytest.raises(OSError, match="nobody else may open"):
        seats(path, OWN)
    path.chmod(0o600)
    with pytest.raises(OSError, match="nobody else may open"):
        seats(path, OWN + 1)
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(OSError, match="symbolic"):
        seats(tmp_path / "link", OWN)
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(OSError, match="nobody else may open"):
        seats(tmp_path / "pipe", OWN)
    path.write_bytes(b"x" * (LARGEST + 1))
    with pytest.raises(OSError, match="at most"):
        seats(path, OWN)
    path.write_bytes(b"ad\xe9,seat01\n")
    with pytest.raises(OSError, match="UTF-8"):
        seats(path, OWN)


def test_five_slips_are_free_and_then_each_costs_twice_the_time() -> None:
    now = [1000.0]
    tries = Tries(lambda: now[0])
    assert [tries.begin("10.0.0.1", "ada") for _ in range(60)] == [0] * 5 + [1] * 55
    waited = []
    for _ in range(8):
        waited.append(tries.begin("10.0.0.1", "ada"))
        now[0] += waited[-1]
        assert tries.begin("10.0.0.1", "ada") == 0
    assert waited == [1, 2, 4, 8, 16, 32, 60, 60]
    assert tries.begin("10.0.0.1", "bob") == 0  # another login, and the same one elsewhere
    assert tries.begin("10.0.0.2", "ada") == 0
    now[0] += 600
    assert tries.begin("10.0.0.1", "ada") == 0


def test_a_right_password_counts_as_no_slip_and_ends_no_pause() -> None:
    now = [0.0]
    tries = Tries(lambda: now[0])
    for _ in range(50):
        assert tries.begin("10.0.0.1", "ada") == 0
        tries.right("10.0.0.1", "ada")
    for login in map(str, range(100)):  # one password for many logins
        assert tries.begin("10.0.0.1", login) == 0
    assert tries.begin("10.0.0.1", "ada") == 1
    tries = Tries(lambda: now[0])
    assert [tries.begin("10.0.0.1", f"seat{n}") for n in range(99)] == [0] * 99  # a class, all at once
    for number in range(30_000):  # what is kept has an end
        now[0] += 1
        tries.begin(str(number), "ada")
    assert len(tries._wrong) < 20_002


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the hub reads."""
    pytest.importorskip("jupyterhub", reason="JupyterHub is not installed")
    from traitlets.config.loader import PyFileConfigLoader

    monkeypatch.setenv("STUDY", "postgresql://lead@/lab?host=/var/run/postgresql&study=pilot")
    monkeypatch.setenv("LEAD_LOGIN", "prof.l")
    monkeypatch.setenv("SIGN_IN", "")
    return PyFileConfigLoader("jupyterhub_config.py", str(DEPLOY)).load_config()


def test_the_hub_listens_here_alone_and_gives_little_away(config: Any) -> None:
    hub, spawner = config.JupyterHub, config.Spawner
    for address in (hub.bind_url, hub.hub_bind_url, config.ConfigurableHTTPProxy.api_url):
        assert address.startswith("http://127.0.0.1:")
    assert hub.load_roles == [{"name": "user", "scopes": SCOPES}]
    assert (hub.shutdown_on_logout, hub.cleanup_servers, hub.allow_named_servers) == (True, False, False)
    assert config.Authenticator.refresh_pre_spawn
    assert not config.Authenticator.enable_auth_state
    assert set(spawner.env_keep) == {"LANG", "LC_ALL"}
    assert not {"CONFIGPROXY_AUTH_TOKEN", "LEAD_PASSWORD", "TRIAL_PASSWORD"} & set(spawner.environment)


def test_only_seats_and_the_lead_are_allowed(config: Any) -> None:
    sign_in = config.JupyterHub.authenticator_class()
    allowed = {
        name: sign_in.check_allowed(name) for name in ("seat01", "lead", "root", "seat1", "ada", "seat01x")
    }
    assert allowed == {
        "seat01": True,
        "lead": True,
        "root": False,
        "seat1": False,
        "ada": False,
        "seat01x": False,
    }


def units(name: str) -> dict[str, str]:
    """Return the settings of a unit; of several with one name, the last."""
    lines = (DEPLOY / f"sense7-{name}.service").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def test_units_write_for_root_alone_and_an_update_of_the_hub_ends_nobody() -> None:
    hub, proxy = units("hub"), units("proxy")
    assert (hub["UMask"], proxy["UMask"]) == ("0077", "0077")
    assert hub["KillMode"] == "process"
    assert proxy["DynamicUser"] == "yes"
    assert "--ip 127.0.0.1" in proxy["ExecStart"]
    assert "--api-ip 127.0.0.1" in proxy["ExecStart"]


def test_the_database_lets_each_account_be_itself_alone() -> None:
    [pattern] = [
        line.split()[1][1:] for line in (DEPLOY / "pg_ident.conf").read_text().splitlines() if "/^" in line
    ]
    fits = [
        name
        for name in ("seat01", "lead", "seat1", "seat001", "root", "leads", "xlead")
        if re.fullmatch(pattern, name)
    ]
    assert fits == ["seat01", "lead"]
    rules = [
        line.split() for line in (DEPLOY / "pg_hba.conf").read_text().splitlines() if not line.startswith("#")
    ]
    assert rules == [
        ["local", "lab", "all", "peer", "map=sense7"],
        ["local", "all", "+seats", "reject"],
        ["host", "lab", "all", "all", "reject"],
        ["host", "all", "+seats", "all", "reject"],
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["--seats", "0"],
        ["--seats", "100"],
        ["--seats", "1; id"],
        ["--study", "pg_x"],
        ["--study", "a'b"],
        ["--wrong"],
    ],
)
def test_the_script_refuses_what_it_cannot_do_before_it_changes_anything(words: list[str]) -> None:
    done = subprocess.run(
        ["sh", str(DEPLOY / "install.sh"), "--dry-run", *words], capture_output=True, text=True
    )
    assert done.returncode in (1, 2)
    assert "- accounts" not in done.stdout


def test_what_the_script_writes_into_texts_is_what_the_docs_say() -> None:
    guide = (ROOT / "docs" / "team_server.md").read_text("utf-8")
    for words in (
        "deploy/install.sh --dry-run",
        "deploy/constraints.txt",
        "deploy/nginx.conf",
        "deploy/Caddyfile",
        "configurable-http-proxy@5.3.0",
        "/etc/sense7/settings",
    ):
        assert words in guide
    pinned = (DEPLOY / "constraints.txt").read_text()
    assert "\njupyterhub==6.1." in pinned
    for line in pinned.splitlines()[1:]:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[^ ]+", line), line
