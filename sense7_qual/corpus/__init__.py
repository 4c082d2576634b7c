"""Read files into units, and plan who codes which units.

A unit is one text that a coder decides on. `read` takes columns by their role and loses nothing by guessing;
`read_sense7` and `read_sense7_messages` read the workbook of the SENSE-7 data set; `assign` assigns the units
to coders. Texts have one canonical form (`canonical`), in which spans are counted and hashes taken. `Limits`
sets how much a file may hold.

=============================================  ==============================  ======================
question                                       function                        file
=============================================  ==============================  ======================
How do my files become units?                  `read`                          ``_read.py``
What is a file, and which column is what?      `recognise`                     ``../_formats/``
… the workbook of the SENSE-7 data set?        `read_sense7`,                  ``_sense7.py``
                                               `read_sense7_messages`
Who codes what?                                `assign`                        ``_assign.py``
How probable was it to be coded twice?         `inclusion`                     ``_assign.py``
Which texts do people code, if a model can?    `hand_sample`                   ``_hand_sample.py``
In which form are texts stored and counted?    `canonical`                     ``../_arguments.py``
Which formats are read, and how safely?        `Limits`                        ``../_formats/``
=============================================  ==============================  ======================
"""

from __future__ import annotations

from sense7_qual._arguments import canonical as canonical
from sense7_qual._formats import recognise
from sense7_qual._limits import Limits
from sense7_qual._rating_values import SENSE7_DIMENSIONS as SENSE7_DIMENSIONS, sense7_levels as sense7_levels
from sense7_qual.corpus._assign import assign, inclusion
from sense7_qual.corpus._columns import QUESTION as QUESTION
from sense7_qual.corpus._hand_sample import hand_sample
from sense7_qual.corpus._read import read, refuse_other as refuse_other
from sense7_qual.corpus._sense7 import read_sense7, read_sense7_messages

__all__ = [
    "Limits",
    "assign",
    "hand_sample",
    "inclusion",
    "read",
    "read_sense7",
    "read_sense7_messages",
    "recognise",
]


def __dir__() -> list[str]:
    return __all__
