"""The page as a coder's server of a JupyterHub: the hub says who is there, the database as whom they code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from jupyter_server.utils import url_path_join
from tornado.ioloop import PeriodicCallback

from sense7_qual._commands import serve

UNUSED: Final = 300
"""Seconds without a kernel after which the server ends; the hub then shows it as stopped."""


class HubPage(serve.Page):
    """The page at its address below the hub."""

    addresses = (*serve.ADDRESSES, "oauth_callback")

    def init_handlers(self) -> list[Any]:
        """Return the handlers of the page and of the hub's answer to a sign-in."""
        hubs = ((where.lstrip("/"), *how) for where, *how in self.identity_provider.get_handlers())
        own = [(f"{self.server_url}{where}", *how) for where, *how in hubs if where == "oauth_callback"]
        return [*own, *super().init_handlers()]

    def launch_browser(self) -> None:
        """Begin to watch whether the page is used."""
        PeriodicCallback(self._end_unused, 1000 * UNUSED / 10).start()

    def _end_unused(self) -> None:
        if self.kernel_manager.unused_seconds() > UNUSED:
            self.ioloop.stop()


def serve_below_hub(notebook: Path, *, dark: bool) -> None:
    """Serve the page to whom the hub lets in, until it has been unused for a while."""
    from jupyterhub import __version__
    from jupyterhub.singleuser.extension import JupyterHubAuthorizer, JupyterHubIdentityProvider

    there = urlsplit(os.environ["JUPYTERHUB_SERVICE_URL"])
    prefix = os.environ["JUPYTERHUB_SERVICE_PREFIX"]
    hub = os.environ.get("JUPYTERHUB_HOST", "") + os.environ.get("JUPYTERHUB_BASE_URL", "/")
    onward, leave = url_path_join(hub, f"hub/spawn?next={prefix}"), url_path_join(hub, "hub/logout")
    page = HubPage(
        config=serve.settings(dark=dark, leave=leave, onward=onward),
        ip=there.hostname or "127.0.0.1",
        port=there.port or 80,
        base_url=prefix,
        auto_token=True,  # which is none: the hub's own has its place
        identity_provider_class=JupyterHubIdentityProvider,
        authorizer_class=JupyterHubAuthorizer,
    )
    serve.serve(page, notebook, headers={"X-JupyterHub-Version": __version__}, remote=True)
