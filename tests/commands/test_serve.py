"""What the coder's page is served by: its addresses and settings as values, and its kernels' lives."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("voila", reason="Voilà is not installed")

from jupyter_client.session import Session, utcnow
from tornado import web
from voila.app import Voila

from sense7_qual._commands import hub, serve

KERNEL = r"(?P<kernel_id>\w+-\w+-\w+-\w+-\w+)"
OWN = [
    f"api/kernels/{KERNEL}",
    f"api/kernels/{KERNEL}/channels",
    "voila/templates/(.*)",
    "voila/static/(.*)",
    "voila/api/themes/(.*)",
    "voila/api/shutdown/(.*)",
    "voila/labextensions/(.*)",
    "()",
]


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """The file of a page."""
    file = tmp_path / "page.ipynb"
    file.write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    return file


@pytest.fixture
def ready(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Any]]:
    """A function that makes a page all but listen."""
    monkeypatch.setattr(serve.Page, "start", lambda page: None)
    umask = os.umask(0o022)

    def make() -> Any:
        page = serve.Page(config=serve.settings(dark=False), ip="127.0.0.1", port=1, token="t0")  # noqa: S106
        serve.serve(page, notebook)
        return as_started(page, notebook)

    yield make
    os.umask(umask)


def as_started(page: Any, notebook: Path) -> Any:
    page.connection_dir = str(notebook.parent)
    page.app_settings = page.init_settings()
    return page


def addresses(page: Any) -> list[str]:
    return [each[0] for each in page.init_handlers()]


def test_the_page_answers_at_these_addresses_and_no_others(ready) -> None:
    page = ready()
    assert addresses(page) == [f"/{where}" for where in OWN]
    # What Voilà has in addition: a version that adds an address is looked at here before the page has it.
    beyond = [each[0] for each in Voila.init_handlers(page) if each[0] not in addresses(page)]
    assert beyond == ["/login", "/logout", "/voila/files/(.*)", "/(.*)"]


def test_the_settings_of_a_page(ready) -> None:
    page = ready()
    assert page.kernel_manager.cull_idle_timeout == 3600
    assert page.kernel_manager.cull_connected
    assert not page.kernel_manager.allow_tracebacks
    assert page.app_settings["kernel_websocket_connection_class"] is serve.Line
    assert page.tornado_settings == {
        "allow_remote_access": False,
        "headers": {"Content-Security-Policy": "frame-ancestors 'none'"},
    }
    assert page.config.KernelManager.transport == ("ipc" if os.name == "posix" else "tcp")
    assert page.config.KernelRestarter.restart_limit == 0
    configuration = page.voila_configuration
    assert (configuration.allow_template_override, configuration.allow_theme_override) == ("NO", "NO")
    if os.name == "posix":
        assert os.umask(0o077) == 0o077


def test_under_a_hub_the_page_asks_the_hub_who_is_there(ready, notebook, monkeypatch) -> None:
    hubs = pytest.importorskip("jupyterhub.singleuser.extension", reason="JupyterHub is not installed")
    environment = {
        "API_TOKEN": "t0",
        "USER": "seat07",
        "CLIENT_ID": "jupyterhub-user-seat07",
        "SERVICE_PREFIX": "/user/seat07/",
        "SERVICE_URL": "http://127.0.0.1:4711/user/seat07/",
        "API_URL": "http://127.0.0.1:1/hub/api",
        "BASE_URL": "/",
        "OAUTH_SCOPES": '["access:servers!user"]',
    }
    for name, value in environment.items():
        monkeypatch.setenv(f"JUPYTERHUB_{name}", value)
    made: list[Any] = []
    monkeypatch.setattr(serve.Page, "start", lambda page: made.append(page))
    hub.serve_below_hub(notebook, dark=True)
    page = as_started(made[0], notebook)
    assert (page.ip, page.port, page.base_url) == ("127.0.0.1", 4711, "/user/seat07/")
    assert sorted(addresses(page)) == sorted(f"/user/seat07/{where}" for where in [*OWN, "oauth_callback"])
    assert isinstance(page.app_settings["identity_provider"], hubs.JupyterHubIdentityProvider)
    assert isinstance(page.app_settings["authorizer"], hubs.JupyterHubAuthorizer)
    assert page.token is None
    assert page.tornado_settings["allow_remote_access"]
    assert page.tornado_settings["headers"]["Content-Security-Policy"] == "frame-ancestors 'none'"
    resources = page.config.VoilaConfiguration.resources
    assert resources == {
        "open": 3600,
        "newer": serve.NEWER_PAGE,
        "leave": "/hub/logout",
        "onward": "/hub/spawn?next=/user/seat07/",
    }


@pytest.mark.parametrize("kind", ["comm_msg", "status", "stream", "error", "execute_result", "execute_reply"])
def test_only_what_widgets_say_goes_on_to_the_page(monkeypatch, kind) -> None:
    passed: list[str] = []
    monkeypatch.setattr(
        serve.ZMQChannelsWebsocketConnection,
        "handle_outgoing_message",
        lambda _, stream, parts: passed.append(stream),
    )
    line, session = serve.Line.__new__(serve.Line), Session(key=b"k")
    line.session = session
    line.handle_outgoing_message("iopub", session.serialize(session.msg(kind, {})))
    assert passed == (["iopub"] if kind in ("comm_msg", "status") else [])


def test_a_coders_server_at_a_hub_loads_no_statistics() -> None:
    """Each coder has such a process: pandas and what it brings would be a third of it."""
    asked = "import sys, sense7_qual._commands.hub; print({'pandas', 'numpy', 'sqlalchemy'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", asked], text=True) == "set()\n"


class Kernel:
    """What a kernel manager knows of a kernel."""

    execution_state = "idle"
    kernel_name = "python3"
    kernel_spec = type("Spec", (), {"metadata": {}})

    def __init__(self, idle: float) -> None:
        self.last_activity = utcnow() - timedelta(seconds=idle)


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The kernels of a coder, of which no process is started."""
    ended: list[str] = []
    kernels = serve.OneKernel(cull_idle_timeout=serve.OPEN, cull_connected=True)
    kernels.ended = ended

    async def end(self: Any, kernel_id: str, **_: Any) -> None:
        ended.append(kernel_id)
        self._kernels.pop(kernel_id)

    monkeypatch.setattr(serve.OneKernel, "shutdown_kernel", end)

    def add(name: str, *, idle: float, connections: int, left: float | None = None) -> None:
        kernels._kernels[name] = Kernel(idle)
        kernels._kernel_connections[name] = connections
        if left is not None:
            kernels._left[name] = utcnow() - timedelta(seconds=left)

    kernels.add = add
    return kernels


def test_a_kernel_ends_two_minutes_after_its_page_and_an_hour_after_the_last_message(kernels) -> None:
    kernels.add("read", idle=3500, connections=1)
    kernels.add("silent", idle=3700, connections=1)
    kernels.add("alone", idle=3000, connections=0, left=130)
    kernels.add("back soon", idle=3000, connections=0, left=100)
    kernels.add("being opened", idle=100, connections=0)
    kernels.add("never opened", idle=130, connections=0)
    for name, idle in (("busy opening", 3000), ("busy for long", 3700)):
        kernels.add(name, idle=idle, connections=0)
        kernels._kernels[name].execution_state = "busy"
    kernels._emptied -= timedelta(seconds=4000)
    asyncio.run(kernels.cull_kernels())
    assert kernels.ended == ["silent", "alone", "never opened", "busy for long"]


def test_a_new_page_takes_over_and_its_kernel_knows_no_token(kernels, monkeypatch) -> None:
    kernels.add("open", idle=1, connections=1)
    kernels.add("left", idle=1, connections=0, left=1)
    started: list[dict[str, Any]] = []

    async def start(self: Any, **named: Any) -> str:
        started.append(named)
        return "new"

    monkeypatch.setattr(serve.AsyncMappingKernelManager, "start_kernel", start)
    own = {"HOME": "/home/seat07", "USE_TOKEN": "0", "EMPTY_TOKEN": "", "PATH": "/opt/bin0"}  # no hub's
    hubs = {
        "JUPYTERHUB_API_TOKEN": "t0secret",
        "JPY_API_TOKEN": "t0secret",
        "JUPYTERHUB_API_URL": "http://x",
        "ANY_NAME": "Bearer t0secret",
    }
    assert asyncio.run(kernels.start_kernel(kernel_name="python3", env=own | hubs)) == "new"
    assert kernels.ended == ["open", "left"]
    assert started == [{"kernel_name": "python3", "env": own}]
    with pytest.raises(web.HTTPError, match=serve.NEWER_PAGE):
        kernels.kernel_model("open")
    with pytest.raises(web.HTTPError, match="does not exist"):
        kernels.kernel_model("of nobody")


def test_a_server_is_unused_once_its_last_kernel_is_gone(kernels) -> None:
    kernels._emptied -= timedelta(seconds=1000)
    assert kernels.unused_seconds() > 999
    kernels.add("open", idle=1, connections=1)
    assert kernels.unused_seconds() < 5
    kernels._kernels.clear()
    assert kernels.unused_seconds() < 5
