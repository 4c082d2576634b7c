"""A participant's words that must be nowhere else, and a process that is watched for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.helpers.places import ROOT

CANARY = "zqcanary"


SAID = f"my {CANARY} brother left me"


# Every try to open a socket, to look up a name or to fetch an address ends the child with an error.
NO_SOCKET = """
import sys

TRIED = []

def watch(event, arguments):
    if event.startswith(("socket.", "urllib.", "http.client.", "ftplib.", "smtplib.")):
        TRIED.append(event)
        raise PermissionError(f"a non-model function tried {event}")

sys.addaudithook(watch)
"""


PURE_PATH = (
    NO_SOCKET
    + """
import importlib, json, pathlib, pkgutil, tempfile
import sense7_qual as qual

for name in qual.__all__:
    getattr(qual, name)
servers = "sense7_qual._commands.serve", "sense7_qual._commands.hub"  # their libraries look for IPv6
for module in pkgutil.walk_packages(qual.__path__, "sense7_qual."):
    module.name in servers or importlib.import_module(module.name)

folder = tempfile.mkdtemp() + "/pilot"
units = qual.corpus.read_sense7("data/sense7_synthetic.xlsx")
messages = qual.corpus.read_sense7_messages("data/sense7_synthetic.xlsx")
units = qual.redact.apply(units, names=["Anna"], key="kept in a safe place").units
plan = qual.corpus.assign(units, coders=["ana", "ben"], overlap=0.5, seed=7)
codebook = qual.Codebook.read("sense7")
store = qual.Store.create(folder, units=units, codebook=codebook)
code = next(iter(codebook.codes)).id
for coder in plan:
    rows = list(plan[coder].itertuples())[:60]
    some = [qual.acts.apply(coder=coder, unit_id=row.unit_id, code=code, codebook=codebook)
            for place, row in enumerate(rows) if place % 3]
    done = [qual.acts.finish(coder=coder, unit_id=row.unit_id, codebook=codebook) for row in rows]
    store.append(some + done)
decisions = qual.codings.decisions(store.codings(), store.coverage(), codebook)
by_code = qual.agreement.by_code(decisions, units=units, cluster="case_id", n_boot=50, seed=7)
qual.report.tables.reliability(by_code).markdown()
links = qual.links.code_to_rating(decisions, units, rating="EmpathyOverall", cluster="case_id", seed=7)
qual.report.tables.link(links, source="pooled").latex()
truth = qual.ratings.ground_truth(messages)
assert store.verify()["ok"].all()
print(json.dumps({"tried": TRIED, "codes": len(by_code), "links": len(links), "truth": len(truth)}))
"""
)


def said_by_a_child(code: str, **environment: str) -> list[str]:
    """Run Python `code` and return the lines that it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout.splitlines()


def in_a_child(code: str, **environment: str) -> dict[str, object]:
    return dict(json.loads(said_by_a_child(code, **environment)[-1]))
