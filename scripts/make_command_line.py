"""Write docs/command_line.md: the help of every command, as the command prints it.

python scripts/make_command_line.py            # writes docs/command_line.md
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from sense7_qual._commands import parser

ROOT: Final = Path(__file__).parents[1]
HEAD: Final = """\
# The command line
From a data file to the tables of a paper, without a line of Python:

```
sense7-qual new studies/pilot --data comments.csv --coders ana,ben
sense7-qual code studies/pilot --coder ana
sense7-qual report studies/pilot --out paper --format docx,csv
```

If `sense7-qual` is not found, use `python -m sense7_qual`. No command prints a participant's text. The exit
status is 0; 1 after an error, or if something is left for a person to look at; 2 if the arguments are not
understood. `new` also writes two notebooks next to the study, for work in JupyterLab: the page and the
notebooks write the same record, even at the same time.

Written by `python scripts/make_command_line.py`.
"""


def page() -> str:
    """Return the page."""
    return HEAD + "".join(f"\n## `{name}`\n```text\n{shown}```\n" for name, shown in helps())


def helps() -> list[tuple[str, str]]:
    """Return the name and the help of the program and of each of its commands."""
    root = parser()
    commands = next(each for each in root._actions if isinstance(each, argparse._SubParsersAction))
    return [(root.prog, root.format_help())] + [
        (command.prog, command.format_help()) for command in commands.choices.values()
    ]


def main() -> None:
    """Write the page."""
    (ROOT / "docs" / "command_line.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
