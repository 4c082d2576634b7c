"""The coding widget in other hosts: `sense7-qual code` (Voilà), marimo, and a page that allows no eval.

The page is asked over HTTP as well: only with its token, and only by this computer's name.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPMessage
from pathlib import Path
from typing import IO, Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.helpers.coding_page import SENTINEL, press, shows, spans, study
from tests.helpers.hosts import Host, free_port, hosted
from tests.helpers.places import ROOT

pytestmark = pytest.mark.browser

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
STATIC = ROOT / "sense7_qual" / "widgets" / "static"


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.nightly)], ids=["light", "dark"])
def voila(request, tmp_path) -> Iterator[Host]:
    """The page of `sense7-qual code`."""
    folder = study(tmp_path / "study")
    words = ["-m", "sense7_qual", "code", str(folder), "--coder", "ana", "--no-browser"]
    words += ["--rating", "EmpathyOverall"] + ["--dark"] * request.param
    with hosted(tmp_path, sys.executable, *words, until=r"http://127\.0\.0\.1:\d+/\?token=\S+") as host:
        yield host


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for the answer that it is."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        return None


def ask(url: str, **headers: str) -> tuple[int, str]:
    """Return status and body of a request."""
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 – loopback
    try:
        with urllib.request.build_opener(NoRedirects).open(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_a_text_is_coded_on_the_page_and_ctrl_c_ends_it(voila: Host, browser: Browser) -> None:
    with voila.page(browser) as page:
        assert page.locator(".jp-InputArea").count() == 0
        box = page.locator(".s7").bounding_box()
        assert box == {"x": 0, "y": 0, "width": 1300, "height": 850}
        page.locator(".s7").focus()
        press(page, "3", "Enter")
        shows(page, "t1/1")
        press(page, "1")
        assert sorted(spans(voila.study)) == [("t0/1", "response", None), ("t1/1", "affective", None)]
        if AXE.is_file():
            page.add_script_tag(path=str(AXE))
            broken = page.evaluate("() => axe.run('.s7').then(r => r.violations.map(v => v.id))")
            assert broken == []
        assert voila.files_with_texts() == []
    voila.process.send_signal(signal.SIGINT)
    assert voila.process.wait(60) == 0
    printed = voila.log.read_text("utf-8")
    assert printed.rstrip().endswith("Ended. Everything reported as saved is in the study.")
    assert "Traceback" not in printed
    assert SENTINEL not in printed
    assert voila.files_with_texts() == []
    assert list((voila.home / "tmp").glob("sense7-qual-*")) == []


LISTENING = """
import os, stat, sys
from pathlib import Path

def sockets(pid):
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            name = os.readlink(link)
        except OSError:
            continue
        if name.startswith("socket:"):
            yield name[8:-1]

pid = int(sys.argv[1])
own = set(sockets(pid))
tcp = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
print("tcp", *(int(line[1].split(":")[1], 16) for line in tcp if line[3] == "0A" and line[9] in own))
unix = [line.split() for line in Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]]
print("ipc", *sorted({line[7] for line in unix if len(line) > 7 and "-ipc-" in line[7] and line[6] in own}))
"""
AS_NOBODY = """
import os, socket, sys, time
import zmq
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
places = sys.argv[1:]
listener = zmq.Context().socket(zmq.SUB)
listener.subscribe(b"")
for place in places:
    if place.isdigit():
        listener.connect(f"tcp://127.0.0.1:{place}")
    else:
        try:
            socket.socket(socket.AF_UNIX).connect(place)
            print("open", flush=True)
        except PermissionError:
            print("refused", flush=True)
print("listening", flush=True)
end, heard = time.time() + 8, 0
while time.time() < end:
    heard += listener.poll(200) and len(listener.recv_multipart())
print("heard", heard)
"""


def kernel_of(host: Host) -> int:
    """Return the process of the kernel that the host started."""
    for process in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            parent = re.search(r"^PPid:\t(\d+)$", (process / "status").read_text(), re.MULTILINE)
            if (
                parent
                and int(parent[1]) == host.process.pid
                and b"ipykernel" in (process / "cmdline").read_bytes()
            ):
                return int(process.name)
    raise AssertionError("no kernel")


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/net/unix").exists(), reason="looks a process up as Linux shows it")
@pytest.mark.parametrize("voila", [False], indirect=True)
def test_no_other_user_of_the_computer_can_listen_to_the_kernel(voila: Host, browser: Browser) -> None:
    with voila.page(browser) as page:
        ports, paths = (line.split()[1:] for line in python(LISTENING, str(kernel_of(voila))).splitlines())
        assert len(paths) == 5
        command = [sys.executable, "-c", AS_NOBODY, *ports, *paths]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listener:
            assert listener.stdout
            printed = [listener.stdout.readline().strip() for _ in range(6)]
            page.locator(".s7").focus()
            press(page, "3", "Enter")
            shows(page, "t1/1")
            printed += listener.stdout.read().split("\n")
        assert "heard 0" in printed
        if os.geteuid() == 0:  # else the listener is this user
            assert printed[:6] == ["refused"] * 5 + ["listening"]
    assert "Other users of this computer" not in voila.log.read_text("utf-8")


def python(program: str, *arguments: str) -> str:
    """Return what a Python program prints."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


@pytest.mark.parametrize("voila", [False], indirect=True)
def test_without_its_token_the_page_is_refused(voila: Host) -> None:
    token = voila.address.partition("token=")[2]
    assert len(token) >= 40
    for path in ("/", f"/?token={token[:-1]}", "/?token=", "/voila/render/page.ipynb", "/api/kernels"):
        status, body = ask(f"{voila.origin}{path}")
        assert status in (302, 403, 404), path
        assert body == "" or "Forbidden" in body or "Not Found" in body or status == 404, path
    for path in ("page.ipynb", "../page.ipynb", "%2e%2e/study/units.parquet"):
        assert ask(f"{voila.origin}/voila/files/{path}")[0] in (403, 404)
    # A page of another name that resolves to this computer is refused, with the token too.
    assert ask(voila.address, Host="example.org")[0] == 403
    # Nor is it to be had by any other way to this computer than the loopback.
    port = int(voila.origin.rpartition(":")[2])
    for *_, (place, *_) in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET):
        if not str(place).startswith("127."):
            with pytest.raises(OSError, match=r"refused|timed out"):
                socket.create_connection((str(place), port), timeout=2).close()


MARIMO = """\
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    from sense7_qual.store import Store
    from sense7_qual.widgets import CodingWidget

    mo.ui.anywidget(CodingWidget(Store({study!r}), coder="ana"))
    return
"""


def test_a_text_is_coded_in_marimo_within_its_shadow_root(browser: Browser, tmp_path: Path) -> None:
    pytest.importorskip("marimo")
    folder = study(tmp_path / "study")
    app = tmp_path / "app.py"
    app.write_text(MARIMO.format(study=str(folder)), encoding="utf-8")
    words = ["-m", "marimo", "run", str(app), "--headless", "--host", "127.0.0.1", f"--port={free_port()}"]
    words += [f"--token-password={secrets.token_hex(16)}"]
    until = r"http://\S+access_token=\w+"
    with hosted(tmp_path, sys.executable, *words, until=until) as host, host.page(browser) as page:
        inside = "[...document.querySelectorAll('*')].filter(e => e.shadowRoot?.querySelector('.s7')).length"
        assert page.evaluate(inside) == 1
        page.locator(".s7").focus()
        press(page, "3")
        page.wait_for_selector(".s7-coding")
        assert spans(folder) == [("t0/1", "response", None)]
        assert host.files_with_texts() == []


STRICT = """\
<!doctype html><meta charset="utf-8"><title>strict</title><body>
<script type="module" nonce="n">
try { eval("1"); } catch (error) { window.refused = error.name; }
const sent = [];
const nothing = () => {};
const model = {on: nothing, off: nothing, get: nothing, set: nothing, save_changes: nothing};
for (const name of NAMES) {
  const {default: widget} = await import(`/${name}.js`);
  const el = document.body.appendChild(document.createElement("div"));
  await widget.render({model: {...model, send: (content) => sent.push([name, content.type])}, el});
}
window.sent = sent;
</script>"""
NAMES = ["coding", "codebook", "adjudication", "overview", "themes", "quotes"]
POLICY = "default-src 'none'; script-src 'nonce-n' 'self'; style-src 'unsafe-inline'"


def test_each_bundle_runs_where_nothing_may_be_evaluated_or_fetched(browser: Browser) -> None:
    """The most that a webview (VS Code's, say) may forbid: no eval, no inline script, no other origin."""
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)

    def answer(route: Any) -> None:
        name = route.request.url.rpartition("/")[2]
        if name.endswith(".js"):
            script = (STATIC / name).read_text("utf-8")
            route.fulfill(body=script, content_type="text/javascript")
        else:
            headers = {"Content-Security-Policy": POLICY}
            route.fulfill(body=STRICT.replace("NAMES", str(NAMES)), content_type="text/html", headers=headers)

    page.route("**/*", answer)
    page.goto("http://strict.test/")
    page.wait_for_function("n => window.sent?.length === n", arg=len(NAMES))  # each has asked its kernel
    assert page.evaluate("() => window.sent") == [[name, "hello"] for name in NAMES]
    assert page.locator(".s7").count() == len(NAMES)
    assert errors == []
    assert page.evaluate("() => window.refused") == "EvalError"  # the policy is in force
    page.close()
