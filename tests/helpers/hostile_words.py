"""Sixty strings that become something else than words where a page, a query or a formatter is careless."""

from __future__ import annotations

from typing import Final

from tests.helpers.simulation import SOAK

WORDS: Final = (
    "<script>window.ran = 1</script>",
    "<img src=x onerror='window.ran = 1'>",
    "<svg onload='ran=1'>",
    "<iframe src='javascript:parent.ran=1'>",
    "<b>bold</b>",
    "</textarea><img src=x onerror=ran=1>",
    "</style><script>ran=1</script>",
    "<a href='javascript:ran=1'>x</a>",
    "<!-- comment",
    "]]>",
    "&lt;b&gt;",
    "&amp;amp;",
    "&#x3c;b&#x3e;",
    '"><img src=x onerror=ran=1>',
    "' onfocus='ran=1' autofocus='",
    "`ran=1`",
    "${ran=1}",
    "{{ran=1}}",
    "{%x%}",
    "javascript:ran=1",
    "data:text/html,<b>x</b>",
    "//example.com/x.js",
    "<math><mtext></mtext></math>",
    "<style>.s7{display:none}</style>",
    "<details open ontoggle=ran=1>",
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(1)",
    "=cmd|'/c calc'!A0",
    "'; DROP TABLE acts; --",
    "' OR '1'='1",
    "%s%n%x",
    "{0.__class__}",
    "\\u003cb\\u003e",
    "\\",
    "\\\\",
    "a\\nb",
    "$$x$$",
    "**b** _i_",
    "[l](javascript:ran=1)",
    "null",
    "undefined",
    "NaN",
    "[object Object]",
    "__proto__",
    "constructor",
    "toString",
    "0",
    "-1",
    "1e309",
    "\u202eevil\u202c",
    "\u2066a\u2069",
    "\u200b\ufeff\u200d",
    "e\u0301 \u00e9",
    "👩‍👩‍👧 🇩🇪",
    "עברית שלום",
    "Ω≈ç√∫˜µ≤",
    "．／：；",
    "a" * 199,
)


def drawn(first: int) -> tuple[str, ...]:
    """Return every third string, from `first` (0 to 2) on; in `make soak` all of them."""
    return WORDS if SOAK else WORDS[first::3]
