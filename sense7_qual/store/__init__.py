"""The store: one study's units, codebooks and acts, in a folder, or in PostgreSQL for a team.

In a folder one coder writes one file, so nothing is lost when folders are synced or merged, and a coder who
is not sent the others' files cannot see them. In PostgreSQL the database keeps the coders apart. Both keep
the same acts and do the same (``docs/record.md``).

========================================  =================================  ==============================
question                                  method of `Store`                  file
========================================  =================================  ==============================
How is an act recorded, and how undone?   `append`, `acts`, `codings`        ``_operations/append.py``
What may be recorded?                     `append`                           ``_operations/check_acts.py``
Is it the study that is meant?            `open_or_create`                   ``_operations/same_study.py``
How do acts become decisions?             `decisions`                        ``_operations/decide.py``
How do two copies become one?             `merge`                            ``_operations/merge.py``
Who codes what?                           `assign`, `plan`                   ``_operations/assign.py``
How does the codebook change?             `revise`                           ``_operations/revise.py``
Which themes has a topic model found?     `record_themes`, `themes` …        ``themes/_recorded.py``
Which codes do coders propose?            `proposals`                        ``acts/_propose.py``
What was registered beforehand?           `preregister`, `preregistrations`  ``acts/_analysis_plan.py``
How do the coders work?                   `options`, `set_options`           ``_operations/set_options.py``
Is everything as it was written?          `verify`, `salvage`                ``_operations/verify.py``
How does a participant withdraw?          `forget`                           ``_operations/forget.py``
How is a study copied or handed out?      `backup`, `archive`, `hand_out`    ``_operations/archive.py``
What does a stranger need to rerun it?    `bundle`                           ``_bundle/``
How does a changed act show?              `verify`                           ``_log/hash_chain.py``
What lies in a study folder?              `create`                           ``_files/layout.py``
Who sees what in PostgreSQL?              `add_coder`                        ``_postgres/row_security.py``
========================================  =================================  ==============================

`Store` (``_store.py``) is written against the protocol in ``_backend.py``, which the folder (``_folder/``),
PostgreSQL (``_postgres/``) and a bundle (``_bundle/``), which is read alone, meet.
"""

from __future__ import annotations

from sense7_qual.store._operations.set_options import Options as Options
from sense7_qual.store._store import Store

__all__ = ["Store"]


def __dir__() -> list[str]:
    return __all__
