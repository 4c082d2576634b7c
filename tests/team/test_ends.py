"""What breaks or ends at a team's server: what a coder sees, what is lost, and what is left behind."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Browser, Page

from tests.helpers import team_server
from tests.helpers.team_client import Client
from tests.helpers.team_pages import LOGINS, sign_in, signed_in
from tests.helpers.team_server import ADDRESS, clock, kernels, processes, recorded, until

pytestmark = [pytest.mark.team, pytest.mark.usefixtures("texts")]

SEAT = "seat03"
SAVED = ".s7-saved"
STRANGER = "You are signed in, but no study is open to you. Ask whoever leads it."


@pytest.fixture(autouse=True)
def nothing_left(server: team_server.Server, texts: list[str]) -> Iterator[None]:
    """Sign cleo out, so that every test starts without a server of hers."""
    yield
    client = Client(LOGINS["cleo"], server.password("TRIAL"))
    client.sign_in()
    client.sign_out()
    until(lambda: not processes(SEAT), "cleo's processes end")


@pytest.fixture
def cleo(server: team_server.Server) -> Iterator[Client]:
    """Cleo without a browser."""
    client = Client(LOGINS["cleo"], server.password("TRIAL"))
    client.sign_in()
    client.open()
    yield client
    client.close()


def change(client: Client, n: int) -> list[str]:
    """Apply and remove a code by turns; the ids of what was acknowledged."""
    unit = client.ask("hello")["unit"]["unit_id"]
    kinds = ("apply", "remove")
    return [client.act(kinds[each % 2], unit, code="affective")["id"] for each in range(n)]


def not_saved(page: Page) -> bool:
    """Whether the page says that something is not saved, or waits for the kernel."""
    return page.locator(".s7-late, .s7-unsaved").count() > 0


def key(page: Page) -> None:
    """Press the key of a code."""
    page.locator(".s7").focus()
    page.keyboard.press("2")


def test_while_the_hub_is_dead_coding_goes_on(server: team_server.Server, cleo: Client) -> None:
    before, made = set(processes(SEAT)), change(cleo, 4)
    server.hub.end()
    made += change(cleo, 10)
    server.hub.start()
    until(team_server.answers, "the hub")
    made += change(cleo, 4)
    assert cleo.lost == 0
    assert set(processes(SEAT)) == before  # nobody's server was started again
    assert set(made) <= recorded("cleo")
    assert len(set(made)) == 18


def test_a_killed_proxy_costs_seconds(server: team_server.Server, browser: Browser) -> None:
    n = len(recorded("cleo"))
    with signed_in(browser, server, "cleo") as page:
        server.proxy.end()
        try:
            key(page)
            until(lambda: not_saved(page), "the page says that it is not saved")
        finally:
            server.proxy.start()
        for _ in range(30):  # it knows no page at first, which is not the end of one
            page.wait_for_timeout(500)
            assert page.locator("#s7-paused").count() == 0
        until(lambda: not not_saved(page) and page.locator(SAVED).count(), "saved by itself", 90)
    assert len(recorded("cleo")) == n + 1


def test_a_stopped_database_loses_nothing(server: team_server.Server, browser: Browser) -> None:
    n = len(recorded("cleo"))
    with signed_in(browser, server, "cleo") as page:
        server.database("-m", "immediate", "stop")
        try:
            key(page)
            until(lambda: not_saved(page), "the page says that it is not saved")
            time.sleep(25)
            key(page)
        finally:
            server.database("start")
        until(lambda: not not_saved(page) and page.locator(SAVED).count(), "saved by itself", 90)
    assert len(recorded("cleo")) == n + 2


def test_a_killed_kernel_says_what_was_not_saved_and_how_to_go_on(
    server: team_server.Server, browser: Browser
) -> None:
    n = len(recorded("cleo"))
    with signed_in(browser, server, "cleo") as page:
        for pid in kernels(SEAT):
            os.kill(pid, signal.SIGKILL)
        key(page)
        said = page.locator("#s7-paused")
        said.wait_for()
        assert "1 change was not saved" in said.inner_text()
        said.get_by_role("button", name="Open again").click()
        page.wait_for_selector("#s7-paused", state="detached")
        page.wait_for_selector(".s7-text")
        key(page)
        page.wait_for_selector(SAVED)
        until(lambda: len(recorded("cleo")) == n + 1, "the new change is in the record")


def test_an_hour_without_a_key_pauses_the_page(server: team_server.Server, browser: Browser) -> None:
    n = len(recorded("cleo"))
    with clock(15, 60, 600), signed_in(browser, server, "cleo") as page:
        key(page)
        page.wait_for_selector(SAVED)
        said = page.locator("#s7-paused")
        said.wait_for()
        assert "Paused" in said.inner_text()
        assert "All is saved" in said.inner_text()
        until(lambda: not kernels(SEAT), "the kernel ends")
        page.keyboard.press("3")
        said.get_by_role("button", name="Go on").click()
        page.wait_for_selector("#s7-paused", state="detached")
        page.wait_for_selector(".s7-text")
    assert len(recorded("cleo")) == n + 1


def test_killed_browsers_leave_no_kernels_and_no_servers(server: team_server.Server) -> None:
    with clock(600, 4, 6):
        clients = [Client(LOGINS[who], server.password("TRIAL")) for who in ("cleo", "dee")]
        for each in clients:
            each.sign_in()
            each.open()
            each.ask("hello")
        assert len(kernels("seat03", "seat04")) == 2
        for each in clients:
            assert each.line
            each.line.sock.close()  # without a word, as a killed browser
        until(lambda: not kernels("seat03", "seat04"), "the kernels end", 60)
        until(lambda: not processes("seat03", "seat04"), "the servers end", 60)


def test_signing_out_in_one_tab_ends_all(server: team_server.Server, browser: Browser) -> None:
    with signed_in(browser, server, "cleo") as page:
        other = page.context.new_page()
        other.goto(f"{ADDRESS}/hub/home")
        other.wait_for_selector("#logout").click()
        until(lambda: not processes(SEAT), "her processes end", 30)
        n = len(recorded("cleo"))
        page.locator("#s7-paused").wait_for()
        assert "You are signed out" in page.locator("#s7-paused").inner_text()
        page.keyboard.press("2")  # which does nothing any more
        other.goto(f"{ADDRESS}/user/{SEAT}/")
        other.wait_for_selector("#username_input")
    assert len(recorded("cleo")) == n


def test_the_pages_own_link_signs_out_at_once(server: team_server.Server, browser: Browser) -> None:
    with signed_in(browser, server, "cleo") as page:
        page.wait_for_selector("#s7-leave").click()
        page.wait_for_selector("#username_input")
        until(lambda: not processes(SEAT), "her processes end", 30)


def test_signing_out_ends_every_cookie_of_the_seat(server: team_server.Server) -> None:
    """On a second computer, too, and those that somebody kept from before."""
    clients = [Client(LOGINS["cleo"], server.password("TRIAL")) for _ in range(2)]
    for each in clients:
        each.sign_in()
        each.open()
    kept = requests.Session()
    kept.cookies.update(clients[0].web.cookies)
    assert "username_input" not in kept.get(f"{ADDRESS}/hub/home", timeout=60).text  # until she signs out
    for each in clients:
        each.close()
    clients[1].sign_out()
    until(lambda: not processes(SEAT), "her processes end", 30)
    again = Client(LOGINS["cleo"], server.password("TRIAL"))
    again.sign_in()
    again.open()  # her server runs again, for a cookie of today
    n = len(recorded("cleo"))
    for old in (kept, clients[0].web, clients[1].web):
        for path in (again.page, f"{ADDRESS}/hub/home", f"{ADDRESS}/hub/spawn"):
            answer = old.get(path, timeout=60)
            assert "username_input" in answer.text, path
        line = f"{again.page}api/kernels/{again.kernel}"
        assert old.get(line, allow_redirects=False, timeout=60).status_code in (302, 403)
    assert again.ask("hello")["type"] == "welcome"
    assert len(recorded("cleo")) == n
    again.close()


@pytest.mark.parametrize("origin", ["cross-site", "same-site", "none", None])
def test_a_link_elsewhere_does_not_sign_out_but_asks(
    server: team_server.Server, cleo: Client, origin: str | None
) -> None:
    headers = {"Sec-Fetch-Site": origin} if origin else {}
    asked = cleo.web.get(f"{ADDRESS}/hub/logout", headers=headers, timeout=60)
    assert "s7-sign-out" in asked.text
    assert cleo.ask("hello")["type"] == "welcome"
    # A form elsewhere does not know the token of the hub's own.
    forged = cleo.web.post(f"{ADDRESS}/hub/logout", headers=headers, data={}, timeout=60)
    assert forged.status_code == 403
    assert cleo.ask("hello")["type"] == "welcome"
    token = re.search(r'name="_xsrf" value="([^"]+)"', asked.text)
    assert token
    done = cleo.web.post(f"{ADDRESS}/hub/logout", data={"_xsrf": token[1]}, timeout=60)
    assert "username_input" in done.text
    until(lambda: not processes(SEAT), "her processes end", 30)


def test_the_newest_page_takes_over_and_the_older_ones_say_paused(
    server: team_server.Server, browser: Browser
) -> None:
    n = len(recorded("cleo"))
    with signed_in(browser, server, "cleo") as page:
        key(page)
        page.wait_for_selector(SAVED)
        pages = [page]
        for _ in range(3):
            pages.append(page.context.new_page())
            pages[-1].goto(f"{ADDRESS}/user/{SEAT}/")
            pages[-1].wait_for_selector(".s7-text")
        assert len(kernels(SEAT)) == 1
        for each in pages[:-1]:
            said = each.locator("#s7-paused")
            said.wait_for()
            assert "you opened a newer page. All is saved." in said.inner_text()
        key(pages[-1])
        pages[-1].wait_for_selector(SAVED)
        pages[0].get_by_role("button", name="Go on").click()
        pages[0].wait_for_selector("#s7-paused", state="detached")
        pages[0].wait_for_selector(".s7-text")
        pages[-1].locator("#s7-paused").wait_for()
        assert len(kernels(SEAT)) == 1
    assert len(recorded("cleo")) == n + 2


def test_no_secret_of_the_hub_is_in_a_kernels_environment(cleo: Client) -> None:
    def environment(pid: int) -> dict[str, str]:
        whole = Path(f"/proc/{pid}/environ").read_bytes().decode()
        return dict(each.split("=", 1) for each in whole.split("\0") if "=" in each)

    [kernel] = kernels(SEAT)
    servers = [environment(pid) for pid in processes(SEAT) if pid != kernel]
    tokens = {each["JUPYTERHUB_API_TOKEN"] for each in servers if "JUPYTERHUB_API_TOKEN" in each}
    assert tokens
    own = environment(kernel)
    assert not [name for name, value in own.items() if any(each in value for each in tokens)]
    assert not [name for name in own if "JUPYTERHUB" in name or "TOKEN" in name or "PASSWORD" in name]


def test_sixty_wrong_passwords_meet_a_pause(server: team_server.Server) -> None:
    client = Client("nobody.at.all", "wrong")
    began = time.monotonic()
    said = Counter(client.sign_in().status_code for _ in range(60))
    assert said[429] > 45, (said, time.monotonic() - began)
    assert "Too many wrong passwords" in client.sign_in().text
    assert Client(LOGINS["dee"], server.password("TRIAL")).sign_in().status_code == 200


def test_an_onward_address_with_a_line_break_is_none(server: team_server.Server) -> None:
    client = Client(LOGINS["cleo"], server.password("TRIAL"))
    assert client.sign_in(onward="/hub/home%0d%0aX-Own:%201").status_code == 200
    for path in ("login", "spawn"):
        for bad in ("%0d%0aX: 1", "/hub/%0a", "%00"):
            answer = client.web.get(f"{ADDRESS}/hub/{path}?next={bad}", timeout=90)
            assert answer.status_code < 500, (path, bad)
    client.open()  # a server that is still starting is not ended by the sign-out
    client.close()


def test_a_page_that_cannot_open_the_study_says_one_sentence(
    server: team_server.Server, browser: Browser
) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(90_000)
        server.database("-m", "immediate", "stop")
        try:
            sign_in(page, LOGINS["cleo"], server.password("TRIAL"))
            page.get_by_text("Everything reported as saved is safe").wait_for()
            assert "Traceback" not in page.content()
        finally:
            server.database("start")


def test_a_seat_without_a_coder_and_a_stranger_read_one_sentence(
    server: team_server.Server, browser: Browser
) -> None:
    lines = team_server.CODERS.read_text().splitlines()
    team_server.coders(*lines, "new.person,seat06")
    for login, words in (("new.person", STRANGER), ("passer.by", STRANGER)):
        with browser.new_context() as context:
            page = context.new_page()
            page.set_default_timeout(90_000)
            sign_in(page, login, server.password("TRIAL"))
            page.get_by_text(words).wait_for()
            assert page.locator(".s7-text").count() == 0
    team_server.coders(*lines)
    until(lambda: not processes("seat06"), "a server whose seat lost its line ends", 120)
    assert Client("new.person", server.password("TRIAL")).sign_in().status_code == 403


def test_bad_lines_let_nobody_in(server: team_server.Server) -> None:
    lines = team_server.CODERS.read_text().splitlines()
    team_server.coders(
        *lines,
        "e.1,root",
        "e.2,lead",
        "e.3,seat99",
        "e.4,seat05",
        "e.5,seat05",
        "e.6,../lead",
        "prof.l,seat06",
    )
    try:
        # The seat of e.3 is of the pattern, and no account has it.
        for login in ("e.1", "e.2", "e.3", "e.4", "e.5", "e.6", "seat05", "root"):
            assert Client(login, server.password("TRIAL")).sign_in().status_code == 403, login
        # The lead's login needs the lead's password, whatever the file says.
        assert Client("prof.l", server.password("TRIAL")).sign_in().status_code == 403
        team_server.CODERS.chmod(0o644)
        assert Client(LOGINS["dee"], server.password("TRIAL")).sign_in().status_code == 403
    finally:
        team_server.coders(*lines)
    assert server.hub.log.read_text().count("coders.csv, line") >= 5


def test_a_big_message_and_a_flood_hurt_only_the_sender(server: team_server.Server, cleo: Client) -> None:
    dee = Client(LOGINS["dee"], server.password("TRIAL"))
    dee.sign_in()
    dee.open()
    cleo.ask("hello")
    assert cleo.line
    try:
        cleo.line.send('{"channel": "shell", "content": "' + "x" * 100_000_000 + '"}')
        list(cleo.heard(3))
    except (OSError, Exception) as error:  # noqa: BLE001 – how a line ends is not said
        print("a message of 100 MB:", type(error).__name__)
    cleo.close()
    cleo.connect()
    stop = threading.Event()

    def flood() -> None:
        for _ in range(10_000):
            if stop.is_set():
                return
            try:
                cleo.send(
                    "comm_msg",
                    {"comm_id": cleo.widget, "data": {"method": "custom", "content": {"type": "hello"}}},
                )
            except Exception:  # noqa: BLE001 – it may be cut off
                return

    thread = threading.Thread(target=flood)
    thread.start()
    began, made = time.monotonic(), change(dee, 10)
    seconds = (time.monotonic() - began) / 10
    stop.set()
    thread.join(60)
    print(f"dee's presses took {1000 * seconds:.0f} ms each during the flood")
    assert set(made) <= recorded("dee")
    assert seconds < 5
    dee.close()
