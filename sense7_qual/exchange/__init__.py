"""Studies in the files of other programs, and their projects here.

A study is written as a REFI-QDA project (.qdpx), which ATLAS.ti, MAXQDA, NVivo, QualCoder and others read,
and theirs are read as frames: texts, codes, codings of each coder, memos, cases and variables. A report
counts what a format has no place for.

=============================================  ==================  ==========================
question                                       function            file
=============================================  ==================  ==========================
How is the coded data got at elsewhere?        `export`            ``_export.py``
How do people code in Excel?                   `write_coding_…`    ``_coding_sheets.py``
… and how does that come back?                 `read_coding_…`     ``_read_coding_sheets.py``
… whose is it, and was that changed?                               ``_about_sheet.py``
… and what does a copy of it change?                               ``_sheet_record.py``
How does a study get to another program?       `write_project`     ``_write_project.py``
What does another program's project hold?      `read_project`      ``_read_project.py``
… and what was changed there of a study?       `match`             ``_match.py``
How does a program count positions in a text?  `Project.offsets`   ``_positions.py``
What was lost on the way?                      `LossReport`        ``_project.py``
=============================================  ==================  ==========================
"""

from __future__ import annotations

from sense7_qual.exchange._coding_sheets import write_coding_sheets
from sense7_qual.exchange._export import export
from sense7_qual.exchange._match import Match as Match, match
from sense7_qual.exchange._project import Loss as Loss, LossReport as LossReport, Project as Project
from sense7_qual.exchange._read_coding_sheets import read_coding_sheets
from sense7_qual.exchange._read_project import read_project
from sense7_qual.exchange._write_project import write_project

__all__ = [
    "export",
    "match",
    "read_coding_sheets",
    "read_project",
    "write_coding_sheets",
    "write_project",
]


def __dir__() -> list[str]:
    return __all__
