"""The command line: each command is a thin layer over the package, in a file of its own.

============================================  =========================================  ==============
question                                      command                                    file
============================================  =========================================  ==============
How do I see the example?                     `sense7-qual lab`                          ``lab.py``
How does a file become a study?               `sense7-qual new`                          ``new.py``
How does a coder code without a notebook?     `sense7-qual code`                         ``code.py``
How is that page served?                                                                 ``serve.py``
To whom, where a hub starts it?                                                          ``hub.py``
What does the page's kernel show?                                                        ``show.py``
How is a study checked, merged, copied?       `sense7-qual verify`, `merge`, `backup`,   ``copies.py``
                                              `archive`, `restore`
How does a coder work without a server?       `sense7-qual hand-out`, `hand-in`          ``hand_out.py``
How does a coder come and go on a server?     `sense7-qual seat`                         ``seat.py``
Where does a paper start?                     `sense7-qual report`                       ``report.py``
How can others rerun the analysis?            `sense7-qual bundle`                       ``bundle.py``
Who can read a server's statistics?           `sense7-qual sql`                          ``sql.py``
What do its commands and errors share?                                                   ``words.py``
============================================  =========================================  ==============

A command's module has `add`, which adds its options to the parser and names the function that runs it. That
function prints what was done, never a participant's text, and returns the exit status. It imports what it
needs of the package itself, so that ``--help`` appears at once.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

from sense7_qual._commands import bundle, code, copies, hand_out, lab, new, report, seat, sql
from sense7_qual._commands.words import Parser
from sense7_qual.errors import QualError

__all__ = ["main", "parser"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return its exit status: 0, or 1 after an error that it has printed."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name that a pipe on Windows cannot hold is no error
        sys.stdout.reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if arguments is None else arguments)
    for_lab: list[str] = []
    if words[:1] == ["lab"]:
        words, for_lab = lab.divide(words)
    parsed = parser().parse_args(words)
    parsed.for_lab = for_lab
    try:
        return int(parsed.run(parsed))
    except QualError as error:
        print(f"sense7-qual: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 1


def parser() -> Parser:
    """Return the parser of all commands."""
    root = Parser(prog="sense7-qual", description="Qualitative coding with honest statistics, in JupyterLab.")
    version = sys.modules["sense7_qual"].__version__
    root.add_argument("--version", action="version", version=f"sense7_qual {version}")
    commands = root.add_subparsers(metavar="COMMAND", required=True)
    for module in (lab, new, code, copies, hand_out, seat, report, bundle, sql):
        module.add(commands)
    return root
