"""A coder at a team's server without a browser: the sign-in, the kernel's line, the widget's own messages."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import requests
import websocket

from tests.helpers import team_server

PATIENCE: Final = 120.0
"""Seconds for which a lost line or a server that starts is tried again."""


def _session() -> requests.Session:
    """Return a session whose connections end with each answer, so that none is left open."""
    session = requests.Session()
    session.headers["Connection"] = "close"
    return session


@dataclass
class Client:
    """One signed-in coder; at most one line to one kernel."""

    login: str
    password: str
    web: requests.Session = field(default_factory=_session)
    line: websocket.WebSocket | None = None
    page: str = ""
    """The address of the coder's own page."""
    kernel: str = ""
    widget: str = ""
    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    lost: int = 0
    """How many times the line was lost."""

    def sign_in(self, *, onward: str = "/hub/home") -> requests.Response:
        """Send the hub's form; the answer is the page that it leads to."""
        address = f"{team_server.ADDRESS}/hub/login?next={onward}"
        self.web.get(address, timeout=60)
        form = {
            "username": self.login,
            "password": self.password,
            "_xsrf": self.web.cookies.get("_xsrf", path="/hub/"),
        }
        return self.web.post(address, data=form, timeout=60)

    def sign_out(self) -> requests.Response:
        """Follow the page's own link to the hub's sign-out, as a browser does."""
        here = {"Sec-Fetch-Site": "same-origin"}
        return self.web.get(f"{team_server.ADDRESS}/hub/logout", headers=here, timeout=60)

    def open(self) -> None:
        """Wait for the coder's page, open the line to its kernel, and find the coding widget."""
        end = time.monotonic() + PATIENCE
        while True:
            got = self.web.get(f"{team_server.ADDRESS}/hub/spawn", timeout=90)
            found = re.search(r'"kernelId": ?"([0-9a-f-]{36})"', got.text)
            if found:
                break
            assert time.monotonic() < end, f"{self.login}: no page: {got.status_code} {got.url}"
            time.sleep(1)
        self.page, self.kernel = got.url.partition("?")[0], found[1]
        self.widget = re.findall(r'"model_id": ?"([0-9a-f]{32})"', got.text)[-1]
        self.connect()

    def address(self, kernel: str | None = None) -> str:
        """Return the address of the line to a kernel, by default the coder's own."""
        page = self.page.replace("http", "ws", 1)
        return f"{page}api/kernels/{kernel or self.kernel}/channels?session_id={self.name}"

    def connect(self, address: str | None = None, **more: Any) -> None:
        """Open the line, and shut the one before it."""
        self.close()
        cookies = "; ".join(
            f"{one.name}={one.value}" for one in self.web.cookies if self._is_for_page(one.path)
        )
        self.line = websocket.create_connection(address or self.address(), cookie=cookies, timeout=20, **more)

    def _is_for_page(self, path: str) -> bool:
        return ("/" + self.page.split("/", 3)[-1]).startswith(path)

    def send(self, kind: str, content: dict[str, Any], channel: str = "shell") -> str:
        """Send a message to the kernel and return its id."""
        header = {
            "msg_id": uuid.uuid4().hex,
            "session": self.name,
            "msg_type": kind,
            "username": "",
            "version": "5.3",
            "date": datetime.now(UTC).isoformat(),
        }
        whole = {
            "header": header,
            "parent_header": {},
            "metadata": {},
            "content": content,
            "channel": channel,
            "buffers": [],
        }
        assert self.line
        self.line.send(json.dumps(whole))
        return str(header["msg_id"])

    def heard(self, seconds: float) -> Iterator[dict[str, Any]]:
        """Yield what the kernel says, for some seconds."""
        end = time.monotonic() + seconds
        assert self.line
        while (left := end - time.monotonic()) > 0:
            self.line.settimeout(left)
            try:
                said = self.line.recv()
            except websocket.WebSocketTimeoutException:
                return
            if isinstance(said, str) and said:
                yield json.loads(said)
            elif not said:
                raise websocket.WebSocketConnectionClosedException("closed")

    def ask(
        self, kind: str, *, act_id: str | None = None, seconds: float = 30, **named: Any
    ) -> dict[str, Any]:
        """Ask the widget something and return its answer; `TimeoutError` without one."""
        wanted = act_id or str(uuid.uuid4())
        content = {"type": kind, "client": self.name, "id": wanted, **named}
        self.send("comm_msg", {"comm_id": self.widget, "data": {"method": "custom", "content": content}})
        for said in self.heard(seconds):
            if said["msg_type"] == "comm_msg" and said["content"]["data"].get("method") == "custom":
                answer: dict[str, Any] = said["content"]["data"]["content"]
                if answer["id"] == wanted:
                    return answer
        raise TimeoutError(f"{self.login}: no answer to {kind}")

    def act(self, kind: str, unit_id: str, *, act_id: str | None = None, **named: Any) -> dict[str, Any]:
        """Do one thing, and again with the same id until it is in the record, as the page does."""
        act_id, end = act_id or str(uuid.uuid4()), time.monotonic() + PATIENCE
        while True:
            try:
                if self.line is None:
                    self.connect()
                answer = self.ask("act", act_id=act_id, act={"kind": kind, "unit_id": unit_id, **named})
                if answer["type"] == "done":
                    return {**answer, "id": act_id}
                if answer["type"] == "refused":
                    raise AssertionError(f"{self.login}: refused: {answer['message']}")
            except (OSError, TimeoutError, websocket.WebSocketException):
                self.lost += 1
                self.close()
            assert time.monotonic() < end, f"{self.login}: not saved within {PATIENCE:.0f} s"
            time.sleep(0.25)

    def close(self) -> None:
        """Shut the line."""
        if self.line is not None:
            self.line.close()
            self.line = None
