"""Redaction: replace direct identifiers in texts before anybody reads, codes or sends them.

Texts cannot be changed once a study holds them: redact units before `Store.create`. `find` locates
identifiers, `preview` shows them to the person who decides, `apply` replaces them by pseudonyms.

What is found is what has a form: e-mail and web addresses, also written out ("ana at example dot org"),
telephone numbers, payment cards (Luhn), IBANs (ISO 7064 mod 97), IP addresses, @handles and user names
next to the name of their service, and the names that you list. What is **not** found: names that are not on
the list or are misspelt, user names on their own, postal addresses, employers, places, dates of birth, and
events that give somebody away. How much is found was measured (docs/redaction.md). Read the texts.

What is replaced and by what: ``_redact.py``. The forms of identifiers: ``_patterns.py``, ``_names.py``, and
the words in them: ``words.toml``.
"""

from __future__ import annotations

from sense7_qual.redact._patterns import KINDS as KINDS
from sense7_qual.redact._redact import Redacted as Redacted, apply, find, preview, summary

__all__ = ["apply", "find", "preview", "summary"]


def __dir__() -> list[str]:
    return __all__
