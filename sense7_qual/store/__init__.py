"""The store: one study's units, codebooks and acts, in a folder, or in PostgreSQL for a team.

In a folder one coder writes one file, so nothing is lost when folders are synced or merged, and a coder who
is not sent the others' files cannot see them. In PostgreSQL the database keeps the coders apart. Both keep
the same acts and do the same (``docs/record.md``).

======================================== ====================================== =========================
question                                  of `Store`                              file
======================================== ====================================== =========================
How is an act recorded, and how undone?  `append`, `acts`, `codings`            ``_operations/append.py``
What may be recorded?                    `append`                               ``_operations/gate.py``
Is it the study that is meant?           `create`                               ``_store.py``
How do acts become decisions?            `decisions`                            ``_operations/decide.py``
Who codes what?                          `assign`, `plan`                       ``_leading.py``
How does the codebook change?            `revise`                               ``_operations/revise.py``
Which themes has a topic model found?    `record_themes`, `themes` …            ``themes/_recorded.py``
Which codes do coders propose?           `proposals`                            ``acts/_make.py``
What was registered beforehand?          `preregister`, `preregistrations`      ``acts/_analysis_plan.py``
How do the coders work?                  `options`, `set_options`               ``_operations/contents.py``
How does a participant withdraw?         `forget`                               ``_operations/forget.py``
Is everything as it was written?         `verify`                               ``_operations/verify.py``
Which acts were seen and are lost?       `verify`, `admin.accept_loss`          ``_operations/append.py``
What is left of damaged acts?            `admin.salvage`                        ``_operations/salvage.py``
How do two copies become one?            `copies.merge`                         ``_operations/merge.py``
How is a study copied?                   `copies.backup`, `archive`             ``_operations/archive.py``
How does a coder work without a server?  `copies.hand_out`, `hand_in`           ``_operations/hand_out.py``
What does a stranger need to rerun it?   `copies.bundle`                        ``_bundle/``
How does a changed act show?             `verify`                               ``_stored/hash_chain.py``
What lies in a study folder?             `create`                               ``_stored/layout.py``
Who sees what in PostgreSQL?             `admin.add_coder`                      ``_postgres/row_security.py``
======================================== ====================================== =========================

`Store` (``_store.py``, ``_leading.py``, ``_reading.py``), its `copies` and its `admin` (``_copies.py``) and
what widgets ask are written over one study that is open (``_open_study.py``). That
is written over the protocols in ``_backend.py``: a bundle (``_bundle/``) is read alone, the folder
(``_folder/``) and PostgreSQL (``_postgres/``) are written to as well.
"""

from __future__ import annotations

from sense7_qual.store._operations.contents import Options as Options
from sense7_qual.store._operations.hand_out import handed_in as handed_in
from sense7_qual.store._store import Store

__all__ = ["Store"]


def __dir__() -> list[str]:
    return __all__
