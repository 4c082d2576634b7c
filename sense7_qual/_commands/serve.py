"""How the coder's page is served: Voilà with one kernel, the addresses that a page needs, and no others."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Final

from jupyter_client.session import utcnow
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from tornado import web
from traitlets.config import Config
from voila.app import Voila

from sense7_qual._commands.lab import short_enough, transport

OPEN: Final = 3600
"""Seconds without a message after which the kernel of an open page ends; the page says that it paused."""
ALONE: Final = 120
"""Seconds for which a kernel waits for its page to come back. A page that is closed ends its kernel at once,
and one whose browser is gone cannot. What the page called saved is in the study then."""

NEWER_PAGE: Final = "a newer page is open"
"""What a page is told whose kernel ended because another one was opened; it says so to the coder."""

ADDRESSES: Final = (
    "api/kernels/KERNEL",
    "api/kernels/KERNEL/channels",
    "voila/templates/(.*)",
    "voila/static/(.*)",
    "voila/api/themes/(.*)",
    "voila/api/shutdown/(.*)",
    "voila/labextensions/(.*)",
    "()",
)
"""The addresses below the page's own: its kernel, and files of the software. Whatever else Voilà may serve is
left out: the files of a folder, and in its version of tomorrow what is not known today."""

_KERNEL: Final = r"(?P<kernel_id>\w+-\w+-\w+-\w+-\w+)"
_TEMPLATES: Final = Path(__file__).parent / "page"
_WIDGETS: Final = ["anywidget", "@jupyter-widgets/jupyterlab-manager", "@voila-dashboards/widgets-manager8"]
_HEARD: Final = frozenset(
    {
        "status",
        "comm_open",
        "comm_msg",
        "comm_close",
        "comm_info_reply",
        "kernel_info_reply",
        "shutdown_reply",
    }
)


class Line(ZMQChannelsWebsocketConnection):  # type: ignore[misc]
    """A page's line to its kernel, on which widgets are heard: no output, no error with its traceback."""

    def handle_outgoing_message(self, stream: str, outgoing_msg: list[Any]) -> None:
        """Pass a message of the kernel on to the page, if it is one of a widget."""
        _, parts = self.session.feed_identities(outgoing_msg)
        if self.session.unpack(parts[1])["msg_type"] in _HEARD:
            super().handle_outgoing_message(stream, outgoing_msg)


class OneKernel(AsyncMappingKernelManager):  # type: ignore[misc]
    """The one kernel of a coder, the newest page's; it ends with that, or after an hour without a message."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)
        self._left: dict[str, datetime] = {}
        self._followed: set[str] = set()
        self._emptied = utcnow()

    async def start_kernel(self, **named: Any) -> str:
        """Start a kernel for a new page, which is told no secret of a hub; end those of earlier pages."""
        for kernel_id in self.list_kernel_ids():
            self._followed.add(kernel_id)
            with suppress(web.HTTPError):  # its page was closed meanwhile
                await self.shutdown_kernel(kernel_id)
        own = _without_secrets(named.pop("env", os.environ))
        return str(await super().start_kernel(**named, env=own))

    def _check_kernel_id(self, kernel_id: str) -> None:
        """Refuse the id of a kernel that is not there, and say so where a newer page has its place."""
        if kernel_id in self._followed and kernel_id not in self:
            raise web.HTTPError(404, NEWER_PAGE)
        super()._check_kernel_id(kernel_id)

    def unused_seconds(self) -> float:
        """Return for how long there has been no kernel."""
        if self.list_kernel_ids():
            self._emptied = utcnow()
        return float((utcnow() - self._emptied).total_seconds())

    def notify_disconnect(self, kernel_id: str) -> None:
        """Note when the kernel lost its page."""
        super().notify_disconnect(kernel_id)
        self._left[kernel_id] = utcnow()

    async def cull_kernel_if_idle(self, kernel_id: str) -> None:
        """End the kernel if it has had no page for too long; Jupyter ends one whose page is silent."""
        await super().cull_kernel_if_idle(kernel_id)
        if kernel_id in self and not self.kernel_model(kernel_id)["connections"]:
            kernel = self._kernels[kernel_id]
            since = max(kernel.last_activity, self._left.get(kernel_id, self._emptied))
            # One that is busy may be opening its page, on a computer that is busy, too.
            if (utcnow() - since).total_seconds() > (OPEN if kernel.execution_state == "busy" else ALONE):
                await self.shutdown_kernel(kernel_id)


def _without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what a hub tells a server, and without the hub's token by any name."""
    token = environment.get("JUPYTERHUB_API_TOKEN")
    return {
        name: value
        for name, value in environment.items()
        if "JUPYTERHUB" not in name and not (token and token in value)
    }


class Page(Voila):  # type: ignore[misc]  # Voilà carries no types
    """The page as a server; `served` is called once it can be opened."""

    served: Callable[[Page], object] = bool
    addresses: ClassVar[tuple[str, ...]] = ADDRESSES

    def launch_browser(self) -> None:
        """Say that the page is served; Voilà calls this then."""
        self.served(self)

    def init_handlers(self) -> list[Any]:
        """Return what answers at the page's addresses."""
        base = self.server_url
        known = {f"{base}{address.replace('KERNEL', _KERNEL)}" for address in self.addresses}
        # Below the page itself, "(.*)", is nothing: Voilà would look there for files of a folder.
        there = (
            (f"{base}()" if where == f"{base}(.*)" else where, *how)
            for where, *how in super().init_handlers()
        )
        return [each for each in there if each[0] in known]


def settings(*, dark: bool, **resources: Any) -> Config:
    """Return the settings of the page; `resources` are for its template."""
    return Config(
        {
            "KernelManager": {"transport": transport()},
            # A kernel that was killed is not started again: it would know nothing of the widget.
            "KernelRestarter": {"restart_limit": 0},
            "MappingKernelManager": {
                "cull_idle_timeout": OPEN,
                "cull_interval": max(1, ALONE // 8),
                "cull_connected": True,
                "allow_tracebacks": False,
            },
            "VoilaConfiguration": {
                "theme": "dark" if dark else "light",
                "allow_template_override": "NO",
                "allow_theme_override": "NO",
                "multi_kernel_manager_class": OneKernel,
                "resources": {"open": OPEN, "newer": NEWER_PAGE, **resources},
                "extension_allowlist": _WIDGETS,
            },
        }
    )


def serve(page: Page, notebook: Path, *, headers: dict[str, str] | None = None, remote: bool = False) -> None:
    """Serve the page until it is ended; what a user has set for Voilà elsewhere does not count."""
    os.umask(0o077)
    # Voilà makes a folder in this one for the kernel's sockets, which no other user can open.
    place = short_enough(Path(tempfile.gettempdir()), name="voila_xxxxxxxx")
    page.config_file_paths, page.connection_dir_root, page.log_level = [], str(place), logging.ERROR
    page.initialize([str(notebook)])
    page.port_retries, page.open_browser = 0, True
    page.kernel_websocket_connection_class = Line
    page.tornado_settings = {
        # Another name in the Host header is refused, but where a hub decides.
        "allow_remote_access": remote,
        "headers": {"Content-Security-Policy": "frame-ancestors 'none'", **(headers or {})},
    }
    page.template_paths.insert(0, str(_TEMPLATES))
    for name in ("tornado.access", "tornado.general"):  # a refused request is no news for the coder
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger("tornado.application").setLevel(logging.ERROR)
    page.start()
