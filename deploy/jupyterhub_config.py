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

from jupyterhub.auth import Authenticator
from jupyterhub.spawner import LocalProcessSpawner
from tornado import web
from traitlets.utils.importstring import import_item

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from seats import SEAT, normal, seats  # noqa: E402

BIN = Path(sys.executable).parent
STUDY = os.environ["STUDY"]
LEAD = "lead"
CODERS = Path(os.path.expanduser(f"~{LEAD}/coders.csv"))  # noqa: PTH111 – also where there is no such account
STRANGER = "You are signed in, but no study is open to you. Ask whoever leads it."


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


class SignIn(import_item(os.environ["SIGN_IN"]) if os.environ.get("SIGN_IN") else TrialSignIn):
    """The institute's sign-in, whose logins become seats before the hub or its log sees them."""

    async def authenticate(self, handler, data):
        model = await super().authenticate(handler, data)
        if model is None:
            return None
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
