"""Language models that code by the codebook: as coders of their own, never counted among people.

A model reads one text and one code at a time, and quotes the words that show the code. What it cannot decide,
or quotes wrongly, is missing and never absent. How good its codes are is not known before they are compared
with people's.

========================================  =======================================  =================
question                                  function                                 file
========================================  =======================================  =================
What exactly is sent?                     `prompts`, `INSTRUCTIONS`, `WORDINGS`    ``_prompt.py``
With which parameters?                    `PARAMETERS`, `PLAIN`                    ``_prompt.py``
Which repetitions show how steady it is?  `variants`                               ``_prompt.py``
What does the model code?                 `code`                                   ``_code.py``
Which replies count?                      `Run.refused`                            ``_reply.py``
What becomes of its answers?              `Run`, `read`                            ``_run.py``
Does it follow the codebook?              `behaviour`                              ``_behaviour.py``
========================================  =======================================  =================
"""

from __future__ import annotations

from sense7_qual.coders._behaviour import behaviour
from sense7_qual.coders._code import Asking as Asking, code
from sense7_qual.coders._prompt import INSTRUCTIONS, PARAMETERS, PLAIN, WORDINGS, prompts, variants
from sense7_qual.coders._run import Run, read

__all__ = [
    "INSTRUCTIONS",
    "PARAMETERS",
    "PLAIN",
    "WORDINGS",
    "Run",
    "behaviour",
    "code",
    "prompts",
    "read",
    "variants",
]


def __dir__() -> list[str]:
    return __all__
