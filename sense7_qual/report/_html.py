"""What a table or a text needs around it to be a page of HTML."""

from __future__ import annotations

from typing import Final

from sense7_qual.report._escape import escape_html, one_line

__all__ = ["STYLE", "html_page"]

STYLE: Final = (
    "<style>table.qual-table{border-collapse:collapse;border-top:2px solid;border-bottom:2px solid}"
    "table.qual-table caption{caption-side:top;font-weight:bold;padding:.3em 0}"
    "table.qual-table thead{border-bottom:1px solid}table.qual-table tfoot{border-top:1px solid}"
    "table.qual-table tbody th{font-weight:normal}"
    "table.qual-table th,table.qual-table td{padding:.25em .6em;vertical-align:top}"
    "table.qual-table tfoot p,figure.qual-list footer p{margin:.2em 0;max-width:60em}"
    "figure.qual-list{margin:1em 0;max-width:48em}"
    "figure.qual-list figcaption{font-weight:bold;padding:.3em 0}"
    "figure.qual-list dl{border-top:2px solid;border-bottom:2px solid;margin:0;padding:.3em 0}"
    "figure.qual-list dt{margin-top:.8em}figure.qual-list dd{margin:.2em 0 .2em 1.5em}"
    "figure.qual-list ul{margin:0;padding-left:1.2em}"
    "section.qual-text{max-width:42em;line-height:1.45}</style>\n"
)


def html_page(title: str, body: str) -> str:
    """Return a whole page with `body`, which is HTML already."""
    head = f'<meta charset="utf-8">\n<title>{one_line(title, escape_html)}</title>\n{STYLE}'
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}</head>\n<body>\n{body}</body>\n</html>\n'
