"""What is in a coder's reach at a team's server: her page, and nothing of others."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import websocket

from tests.helpers import team_server
from tests.helpers.team_client import Client
from tests.helpers.team_pages import LOGINS
from tests.helpers.team_server import ADDRESS, BIN, STUDY, account, processes

pytestmark = pytest.mark.team

MINE, OTHERS = "seat03", "seat04"
OF_A_SERVER = (
    "",
    "api",
    "api/contents",
    "api/contents/comments.csv",
    "api/sessions",
    "api/terminals",
    "api/kernels",
    "api/kernelspecs",
    "api/status",
    "api/me",
    "api/config/notebook",
    "api/events",
    "api/nbconvert",
    "lab",
    "tree",
    "notebooks/page.ipynb",
    "edit/comments.csv",
    "view/comments.csv",
    "files/comments.csv",
    "files/page.ipynb",
    "terminals/1",
    "metrics",
    "nbconvert/html/page.ipynb",
    "voila/files/page.ipynb",
    "voila/render/page.ipynb",
    "voila/tree",
    "page.ipynb",
    "static/../../../../etc/passwd",
    "voila/static/..%2f..%2f..%2f..%2fetc%2fpasswd",
    "voila/templates/..%2f..%2fetc%2fpasswd",
    "login",
    "api/kernels/{other}",
    "api/kernels/{other}/channels",
    "voila/api/shutdown/{other}",
)
OF_THE_HUB = (
    "api/users",
    "api/users/{others}",
    "api/users/lead",
    "api/users/{mine}/tokens",
    "api/users/{others}/tokens",
    "api/users/lead/tokens",
    "api/groups",
    "api/services",
    "api/proxy",
    "api/info",
    "api/shutdown",
    "api/users/{others}/server",
    "api/users/{others}/activity",
    "api/users/{others}/shared",
    "api/shares/{others}",
    "api/user",
    "api/authorizations/token/x",
    "admin",
    "home",
    "token",
    "user-redirect/",
    "spawn/{others}",
    "spawn/lead",
    "spawn-pending/{others}",
    "metrics",
    "health",
    "static/js/home.js",
    "api/users/seat%2e%2e%2flead",
    "api/users/..%2flead",
    "spawn/..%2flead",
)
# Of her own: the page, what she is to the hub, and files of the software.
OPEN = {
    f"/user/{MINE}/",
    "/hub/api/user",
    "/hub/api/users",
    "/hub/home",
    "/hub/token",
    "/hub/health",
    "/hub/api/info",
    "/hub/static/js/home.js",
}


@pytest.fixture
def coders(pair: tuple[Client, Client]) -> tuple[Client, Client]:
    """Cleo and dee, each with a fresh line: one that nobody reads from is ended by the server."""
    for each in pair:
        each.close()
        each.open()  # anew, since a test may have opened her page, which takes over
    return pair


@pytest.fixture(scope="module")
def pair(server: team_server.Server, texts: list[str]) -> Iterator[tuple[Client, Client]]:
    """Cleo and dee with open pages, and something coded by dee."""
    pair = tuple(Client(LOGINS[who], server.password("TRIAL")) for who in ("cleo", "dee"))
    for each in pair:
        each.sign_in()
        each.open()
    unit = pair[1].ask("hello")["unit"]["unit_id"]
    pair[1].act("memo", unit, text="Dees own thought.")
    yield pair  # type: ignore[misc]
    for each in pair:
        each.close()
        each.sign_out()


@pytest.fixture
def secrets(texts: list[str]) -> list[str]:
    """Words that none but their owners may see."""
    logins = [login for who, login in LOGINS.items() if who != "cleo"]
    return [
        *texts,
        *logins,
        "Dees own thought",
        "root:x:",
        Path("/etc/sense7/proxy").read_text().strip()[-20:],
    ]


def tried(client: Client, method: str, address: str, **more: object) -> tuple[int, str, str]:
    """Ask for an address without being led elsewhere; the status, where it leads, and the words."""
    answer = client.web.request(method, address, allow_redirects=False, timeout=60, **more)  # type: ignore[arg-type]
    return answer.status_code, answer.headers.get("Location", ""), answer.text


def addresses(other: str) -> list[str]:
    """Return the addresses below her own page, those of dee and of the lead, and those of the hub."""
    paths = [f"/user/{who}/{each}" for who in (MINE, OTHERS) for each in OF_A_SERVER]
    paths += ["/user/lead/", "/user/lead/lab", "/user/lead/api/contents", "/user/seat..%2flead/"]
    paths += [f"/hub/{each}" for each in OF_THE_HUB]
    return [each.format(other=other, others=OTHERS, mine=MINE) for each in paths]


def test_addresses_give_her_page_and_no_words_of_others(coders, secrets) -> None:
    cleo, dee = coders
    given = {}
    asked = addresses(dee.kernel)
    assert len(asked) > 71
    for path in asked:
        status, _, words = tried(cleo, "GET", ADDRESS + path)
        if status == 200:
            given[path] = words
    own = f"/user/{MINE}/"
    assert set(given) - OPEN == set(), sorted(set(given) - OPEN)
    for path, words in given.items():
        if path != own:  # her page has the address of her own kernel alone
            assert [each for each in secrets if each in words] == [], path
    assert OTHERS not in given.get("/hub/api/users", "")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_writing_is_refused_everywhere_also_with_a_valid_token_of_the_form(coders, method) -> None:
    cleo, dee = coders
    forms = {one.path: one.value for one in cleo.web.cookies if one.name == "_xsrf"}
    done = {}
    for path in addresses(dee.kernel):
        if path in (f"/hub/api/users/{MINE}/server", "/hub/logout"):
            continue
        token = next((value for place, value in forms.items() if path.startswith(place)), "")
        headers = {"X-XSRFToken": token, "Referer": ADDRESS + "/hub/home", "Content-Type": "application/json"}
        status, _, _ = tried(cleo, method, f"{ADDRESS}{path}", headers=headers, data="{}")
        if status < 400:
            done[path] = status
    assert done == {}
    assert dee.ask("hello")["type"] == "welcome"


def test_nothing_is_given_without_a_sign_in(coders) -> None:
    cleo, dee = coders
    stranger = Client("", "")
    for path in (*addresses(dee.kernel), f"/user/{MINE}/api/kernels/{cleo.kernel}"):
        status, where, words = tried(stranger, "GET", ADDRESS + path)
        free = path in ("/hub/health", "/hub/static/js/home.js", "/hub/api/info", "/hub/api")
        assert status != 200 or free or "username_input" in words, (path, status, where)
    assert tried(stranger, "GET", "http://127.0.0.1:8001/api/routes")[0] == 403  # the proxy's own interface
    assert tried(stranger, "GET", "http://127.0.0.1:8081/hub/api/users")[0] == 403


def test_her_kernel_runs_nothing(coders) -> None:
    cleo, _ = coders
    touched = Path(f"/home/{MINE}/ran")
    code = f"open({str(touched)!r}, 'w')"
    tries = {
        "execute_request": {"code": code, "silent": False, "store_history": False, "user_expressions": {}},
        "inspect_request": {"code": "store", "cursor_pos": 3, "detail_level": 1},
        "complete_request": {"code": "store.", "cursor_pos": 6},
        "history_request": {"output": True, "raw": True, "hist_access_type": "tail", "n": 9},
        "is_complete_request": {"code": "1"},
        "create_subshell_request": {},
        "list_subshell_request": {},
    }
    sent = {}
    for channel in ("shell", "control"):
        for kind, content in tries.items():
            sent[cleo.send(kind, content, channel)] = kind
    debug = {"type": "request", "seq": 1, "command": "evaluate", "arguments": {"expression": code}}
    sent[cleo.send("debug_request", debug, "control")] = "debug_request"
    sent[cleo.send("input_reply", {"value": code}, "stdin")] = "input_reply"
    for target in ("jupyter.widget", "jupyter.widget.control"):
        state = {"_model_name": "FileUploadModel", "_model_module": "@jupyter-widgets/controls"}
        content = {
            "comm_id": os.urandom(16).hex(),
            "target_name": target,
            "data": {"state": state, "buffer_paths": []},
        }
        sent[cleo.send("comm_open", content)] = target
    heard = [one for one in cleo.heard(6) if one["parent_header"].get("msg_id") in sent]
    answers = {one["msg_type"] for one in heard}
    assert answers <= {"status", "comm_close"}, answers
    assert "Traceback" not in json.dumps(heard)
    assert not touched.exists()
    assert cleo.ask("hello")["coder"] == "cleo"  # the line goes on


def test_other_lines_are_refused(coders) -> None:
    cleo, dee = coders
    ways = {
        "dee's kernel by cleo's address": (cleo.address(dee.kernel), {}),
        "dee's kernel by dee's address": (dee.address(), {}),
        "a terminal": (cleo.page.replace("http", "ws") + "terminals/websocket/1", {}),
        "events": (cleo.page.replace("http", "ws") + "api/events/subscribe", {}),
        "another site": (cleo.address(), {"origin": "http://evil.example"}),
    }
    own = cleo.line
    for what, (address, more) in ways.items():
        with pytest.raises(websocket.WebSocketBadStatusException):
            pytest.fail(f"{what} was let in: {cleo.connect(address, **more)}")
    cleo.line = own


def test_another_seats_page_says_only_whether_it_runs(coders) -> None:
    cleo, _ = coders
    status, where, words = tried(cleo, "GET", f"{ADDRESS}/hub/user/{OTHERS}/")
    assert (status, where) in ((403, ""), (404, "")) or status in (302, 403, 404)
    assert "dee" not in words
    assert LOGINS["dee"] not in words


LISTENS = """
import sys, time, zmq
seen = 0
context = zmq.Context()
lines = []
for port in sys.argv[1:]:
    line = context.socket(zmq.SUB)
    line.connect("tcp://127.0.0.1:" + port)
    line.subscribe(b"")
    lines.append(line)
print("ready", flush=True)
end = time.monotonic() + 8
while time.monotonic() < end:
    for line in lines:
        if line.poll(50):
            seen += 1
            print(line.recv_multipart()[-1][:200])
print("frames", seen)
"""


def ports() -> set[str]:
    """Return the ports that anything of ours listens on."""
    lines = [
        line for file in ("tcp", "tcp6") for line in Path(f"/proc/net/{file}").read_text().splitlines()[1:]
    ]
    return {str(int(line.split()[1].split(":")[1], 16)) for line in lines if line.split()[3] == "0A"}


def test_no_other_account_hears_a_word(coders, texts) -> None:
    cleo, _ = coders
    command = ["runuser", "-u", "seat05", "--", str(BIN / "python"), "-c", LISTENS, *sorted(ports())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/") as listener:
        assert listener.stdout
        assert listener.stdout.readline() == "ready\n"
        unit = cleo.ask("hello")["unit"]["unit_id"]
        for n in range(6):
            cleo.act("apply" if n % 2 == 0 else "remove", unit, code="affective")
            cleo.ask("hello")
        heard = listener.stdout.read()
    assert heard == "frames 0\n"
    folders = [place for place in Path("/tmp").glob("voila_*") if place.owner() == MINE]  # noqa: S108
    assert folders
    assert {place.stat().st_mode & 0o777 for place in folders} == {0o700}  # Jupyter may add the sticky bit
    sockets = [
        line.split()[-1]
        for line in Path("/proc/net/unix").read_text().splitlines()
        if "/tmp/" in line  # noqa: S108
    ]
    assert all(
        Path(each).parent.stat().st_mode & 0o077 == 0 for each in sockets if Path(each).parent.exists()
    )


def test_another_account_cannot_read_her_home_process_or_rows(coders, texts) -> None:
    def run(*words: str, who: str = OTHERS) -> tuple[int, str]:
        done = account(who, *words, check=False)
        return done.returncode, done.stdout + done.stderr

    [pid, *_] = processes(MINE)
    for words in (
        ["ls", f"/home/{MINE}"],
        ["cat", f"/proc/{pid}/environ"],
        ["ls", f"/proc/{pid}/fd"],
        ["cat", "/home/lead/coders.csv"],
        ["ls", "/etc/sense7"],
        ["ls", "/var/lib/sense7"],
        ["psql", "-U", MINE, "-d", "lab", "-c", "select 1"],
        ["psql", "-U", "lead", "-d", "lab", "-c", "select 1"],
        ["psql", "-U", "postgres", "-d", "lab", "-c", "select 1"],
        ["psql", "-h", "127.0.0.1", "-d", "lab", "-c", "select 1"],
        ["psql", "-d", "postgres", "-c", "select 1"],
        ["kill", str(pid)],
    ):
        assert run(*words)[0] != 0, words
    assert run("psql", "-U", "lead", "-d", "lab", "-c", "select 1", who=MINE)[0] != 0
    # Her own role reads her own rows alone, by hand too.
    _, rows = run("psql", "-Atd", "lab", "-c", 'select count(*) from "pilot-dee".acts', who=MINE)
    assert re.fullmatch(r"0|.*permission denied.*", rows.strip(), re.S), rows
    for words in processes().values():
        assert not [each for each in (*LOGINS.values(), *("cleo", "dee"), "token") if each in words], words


def test_logs_and_records_hold_no_text_no_token_and_are_roots(server, coders, texts) -> None:
    token = Path("/etc/sense7/proxy").read_text().strip().partition("=")[2]
    cookies = [one.value for each in coders for one in each.web.cookies if len(one.value or "") > 20]
    for each in (*Path("/var/lib/sense7").iterdir(), *Path("/etc/sense7").iterdir()):
        assert each.stat().st_mode & 0o077 == 0, each
    logs = [*server.logs.glob("*.log"), *Path("/var/log/postgresql").glob("*.log")]
    assert len(logs) >= 3
    for each in logs:
        words = each.read_text()
        kept = [one for one in (*texts, token, *cookies, "Dees own thought") if one in words]
        assert kept == [], (each, [line for line in words.splitlines() if any(one in line for one in kept)])
        assert [login for who, login in LOGINS.items() if login in words] == [], each
    hub = Path("/var/lib/sense7/hub.sqlite").read_bytes()
    assert [one for one in (*LOGINS.values(), *("cleo", "dee")) if one.encode() in hub] == []
    assert STUDY  # in the settings alone


def test_cookies_of_another_and_codes_used_twice_give_nothing(coders) -> None:
    cleo, dee = coders
    # Dee's cookies for dee's page, sent by somebody to cleo's page: dee is let in to neither.
    status, where, _ = tried(dee, "GET", cleo.page)
    assert (status, "/user/" in where or status in (302, 403, 404)) != (200, True)
    assert status != 200
    # A code of a sign-in that has been used.
    assert cleo.sign_out().status_code == 200
    cleo.sign_in()
    cleo.open()
    history = cleo.web.get(f"{ADDRESS}/hub/spawn", timeout=90).history
    codes = [each.headers["Location"] for each in history if "code=" in each.headers.get("Location", "")]
    for each in codes:
        address = each if each.startswith("http") else ADDRESS + each
        assert Client("", "").web.get(address, allow_redirects=False, timeout=60).status_code in (
            302,
            400,
            403,
        )
    frame = cleo.web.get(cleo.page, timeout=60).headers
    assert "frame-ancestors 'none'" in frame["Content-Security-Policy"]
    assert "no-store" in frame.get("Cache-Control", "")
