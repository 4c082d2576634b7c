"""The codebook: what the codes are, when to use them and when not.

A `Codebook` is a frozen value. It is read from YAML or CSV, written to YAML (the same content always to
the same bytes), and known by its `fingerprint`, so that every coding can say under which codebook it was
made. A code is identified by its `id`, never by its label.

What a codebook is: ``_codebook.py``. Its files: ``_yaml_csv.py``. What changed between two versions is
said by `sense7_qual.revisions`.
"""

from __future__ import annotations

from sense7_qual.codebook._codebook import ORIGINS, VALENCES, Code, Codebook

__all__ = ["ORIGINS", "VALENCES", "Code", "Codebook"]
