"""Strings that break what shows, writes or reads them carelessly."""

from __future__ import annotations

HOSTILE = [
    "a|b", "|", "\\", "\\|", "\\\\|", "a\\", "`|`", "``` x", "*x*", "**b**", "_i_", "__b__", "~~s~~", "==m==",
    "^s^ ~s~", "$x$", "$$y$$", r"\(x\)", r"\[y\]", r"\input{/etc/passwd}", r"\write18{ls}", r"\\[1em]",
    "<script>alert(1)</script>", "<!-- c -->", "&amp;", "&copy", "<a@b.c>", "[l](javascript:x)",
    "![i](//a.b/c)", "++i++", ">! x !<",
    "[^1]", "[@cite]", "# h", "- l", "+ l", "* l", "1. l", "2) l", "> q", "===", "---", "| a | b |", ":---|",
    "http://ex.am/p", "www.ex.am", "50% & more_#1", "{.c}", "}{", "x^2~y", "\"q\" ''r'' ``s''",
    "-- ---", "?`!`",
    "[laughs] hi", "*starred", "%comment", r"\end{tabular}", "</td></tr></table>", "line\nbreak",
    "a\r\n\r\nb",
    "\u2028sep", "\ttab", "nul\x00x", "bell\x07", "lone \ud800", "עברית שלום",
    "👩‍👩‍👧 🇩🇪 é", "καλά α", "α", "−1 ≥ 2 ≤ →",
    "  lead and trail  ", "",
]  # fmt: skip
