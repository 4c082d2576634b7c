"""JupyterHub for the coders of one study: a coder's server is her page, the lead's is JupyterLab.

`install.sh` copies this file to /etc/sense7 and writes `settings` beside it. What an institute adds, such as
its sign-in, is in `sign_in.py` there, which an update leaves alone.
"""

import logging
import os
import pwd
import sys
from pathlib import Path
from secrets import compare_digest

from jupyterhub import orm
from jupyterhub.auth import Authenticator
from jupyterhub.handlers.base import BaseHandler
from jupyterhub.handlers.login import LogoutHandler
from jupyterhub.spawner import LocalProcessSpawner
from tornado import web
from traitlets.utils.importstring import import_item

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from seats import SEAT, normal, seats  # noqa: E402
from tries import Tries  # noqa: E402

BIN = Path(sys.executable).parent
STUDY = os.environ["STUDY"]
LEAD = "lead"
CODERS = Path(os.path.expanduser(f"~{LEAD}/coders.csv"))  # noqa: PTH111 – also where there is no such account
STRANGER = "You are signed in, but no study is open to you. Ask whoever leads it."
WAIT = "Too many wrong passwords. Wait {} seconds, then try again."
LEAVING = """{% extends "page.html" %}
{% block main %}
<div class="container text-center">
  <form method="post">
    <input type="hidden" name="_xsrf" value="{{ xsrf }}">
    <p>This ends your page here and in every other browser. What it called saved is saved.</p>
    <button class="btn btn-jupyter" type="submit" id="s7-sign-out">Sign out</button>
  </form>
</div>
{% endblock main %}
"""


class TrialSignIn(Authenticator):
    """Two passwords, the lead's and the coders': for a trial alone, since a coder can sign in as another."""

    async def authenticate(self, handler, data):
        which = "LEAD_PASSWORD" if is_lead(data["username"]) else "TRIAL_PASSWORD"
        expected, given = os.environ.get(which, ""), data["password"]
        good = len(expected) >= 12 and compare_digest(given.encode(), expected.encode())
        return data["username"] if good else None


def is_lead(login):
    """Whether this login is the lead's, which root writes into `settings`."""
    return normal(login) == normal(os.environ["LEAD_LOGIN"])


def has_seat(name):
    """Whether a line of coders.csv names this seat; while the file cannot be read, those inside stay."""
    try:
        return name == LEAD or name in seats(CODERS, pwd.getpwnam(LEAD).pw_uid)[0].values()
    except OSError:
        return True


class SignOut:
    """Signs out of a seat in every browser: no cookie from before opens anything any more."""

    async def get(self):
        """Ask before, unless the link was on a page of this server: one elsewhere leads here too."""
        if self.current_user and self.request.headers.get("Sec-Fetch-Site") != "same-origin":
            page = self.settings["jinja2_env_sync"].from_string(LEAVING)
            self.finish(page.render(**self.template_namespace))
        else:
            await super().get()

    async def post(self):
        """Sign out; JupyterHub has checked that its own form was sent."""
        await super().get()

    async def handle_logout(self):
        """End what the seat's cookies stand for: the hub's own, and the tokens behind those of pages."""
        user = self.current_user
        if user:
            for token in self.db.query(orm.APIToken).filter(
                orm.APIToken.user_id == user.id, orm.APIToken.session_id.is_not(None)
            ):
                self.db.delete(token)
            user.orm_user.cookie_id = orm.new_token()
            self.db.commit()
        await super().handle_logout()


def _without_login(record):
    """Keep out of the log what somebody typed as a login: a name, or a password in the wrong field."""
    if str(record.msg).startswith("Failed login"):
        record.msg, record.args = "Failed login", ()
    return True


def _next_page(handler, address, validated=BaseHandler._validate_next_url):
    """The address that follows a sign-in; one that no header may hold counts as none."""
    return validated(handler, address if address.isprintable() else "")


BaseHandler._validate_next_url = _next_page


class SignIn(import_item(os.environ["SIGN_IN"]) if os.environ.get("SIGN_IN") else TrialSignIn):
    """The institute's sign-in, whose logins become seats before the hub or its log sees them."""

    tries = Tries()

    def get_handlers(self, app):
        own = super().get_handlers(app)
        out = next((each for where, each, *_ in own if where == "/logout"), LogoutHandler)
        return [("/logout", type("SignOut", (SignOut, out), {})), *own]

    async def authenticate(self, handler, data):
        # A sign-in elsewhere sends no form, and sees to it itself.
        tried = (handler.request.remote_ip, normal(data["username"])) if data else None
        wait = self.tries.begin(*tried) if tried else 0
        if wait:
            self.log.warning("too many wrong passwords: a pause of %s seconds", wait)
            raise web.HTTPError(429, WAIT.format(wait))
        model = await super().authenticate(handler, data)
        if model is None:
            return None
        if tried:
            self.tries.right(*tried)
        login = model["name"] if isinstance(model, dict) else model
        if is_lead(login):
            return {"name": LEAD, "admin": False}
        try:
            known, wrong = seats(CODERS, pwd.getpwnam(LEAD).pw_uid)
        except OSError as error:
            known, wrong = {}, [str(error.args[-1])]
        for each in wrong:
            self.log.warning("coders.csv, %s", each)
        seat = known.get(normal(login))
        if seat not in {each.pw_name for each in pwd.getpwall()}:
            raise web.HTTPError(403, STRANGER)
        return {"name": seat, "admin": False}

    def check_allowed(self, username, authentication=None):
        return username == LEAD or SEAT.fullmatch(username) is not None

    async def refresh_user(self, user, handler=None, **kwargs):
        return has_seat(user.name)


class Server(LocalProcessSpawner):
    """A seat gets the coder's page, the lead JupyterLab; each as their own account."""

    without = 0  # polls in a row that found no line for this seat
    ending = False

    async def start(self):
        if self.user.name == LEAD:
            self.cmd = [str(BIN / "jupyterhub-singleuser")]
            self.args = [
                "--KernelManager.transport=ipc",
                "--ServerApp.allow_remote_access=True",
                "--LabApp.news_url=None",  # nothing is asked of other servers
                "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
                "--LabApp.extension_manager=readonly",
                "--log-level=WARN",
            ]
            self.default_url, self.notebook_dir = "/lab", pwd.getpwnam(LEAD).pw_dir
        elif SEAT.fullmatch(self.user.name):
            own = STUDY.replace(f"//{LEAD}@", f"//{self.user.name}@", 1)
            self.cmd, self.args = [str(BIN / "sense7-qual"), "code", own], []
        else:
            raise web.HTTPError(403, STRANGER)
        return await super().start()

    async def poll(self):
        status = await super().poll()
        self.without = 0 if has_seat(self.user.name) else self.without + 1
        if status is not None or self.ending or self.without < 2:  # an editor may be saving the file just now
            return status
        self.log.warning("%s has no line in coders.csv: ended", self.user.name)
        self.ending = True  # since stopping polls
        try:
            await self.stop()
        finally:
            self.ending = False
        return 0


c = get_config()  # noqa: F821 – JupyterHub's
# Its lines on cookies against forged forms hold the numbers of sessions.
logging.getLogger("tornado.application").addFilter(lambda record: record.module != "_xsrf_utils")
logging.getLogger("JupyterHub").addFilter(_without_login)
c.JupyterHub.trusted_downstream_ips = ["127.0.0.1"]  # the proxies, which say who asked
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:8081"
c.JupyterHub.cookie_secret_file = "cookie_secret"  # noqa: S105 – a name
c.JupyterHub.db_url = "sqlite:///hub.sqlite"
c.JupyterHub.authenticator_class = SignIn
c.JupyterHub.spawner_class = Server
c.JupyterHub.cleanup_servers = False  # an update of the hub interrupts nobody
c.JupyterHub.cleanup_proxy = False
c.JupyterHub.shutdown_on_logout = True
c.JupyterHub.allow_named_servers = False
c.JupyterHub.cookie_max_age_days = 1
c.ConfigurableHTTPProxy.should_start = False
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:8001"
c.JupyterHub.last_activity_interval = 10  # seconds until a proxy that was started again knows where pages are
c.Authenticator.any_allow_config = True  # who may come in is decided by `SignIn`
c.Authenticator.auth_refresh_age = 60
c.Authenticator.refresh_pre_spawn = True
c.Authenticator.enable_auth_state = False
c.Spawner.poll_interval = 5  # seconds until a server that ended itself can be started again
c.Spawner.env_keep = ["LANG", "LC_ALL"]
c.Spawner.environment = {"PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin", "JUPYTER_PLATFORM_DIRS": "1"}
c.Spawner.start_timeout = c.Spawner.http_timeout = 120  # twenty who sign in at once start at once
c.JupyterHub.load_roles = [
    {
        "name": "user",
        "scopes": ["access:servers!user", "read:users!user", "servers!user", "users:activity!user"],
    }
]
if (HERE / "sign_in.py").exists():
    load_subconfig(str(HERE / "sign_in.py"))  # noqa: F821
