"""What the frames of this package hold: each column with its type, what it is, and its range."""

from __future__ import annotations

from typing import Final

from sense7_qual._contract import Column, Contract, count, flag, reason, share, text

VARIANTS: Final = Contract(
    "variants",
    ("variant",),
    {
        "variant": text(
            '"base", "run 2", "wording brief", "order 1" …; only the answers of the first, the base, '
            "become codings"
        ),
        "wording": text("a name in the wordings"),
        "order": count("0: as in the codebook; others: its rules and examples shuffled with this seed"),
        "run": count("from 1; a further run asks the same prompts again"),
        "n": count("texts drawn for it, the same for all variants; missing: all texts", missing=True),
        "seed": count("of the draw"),
    },
    row="One row per variant",
)

PROMPTS: Final = Contract(
    "prompts",
    ("variant", "unit_id", "code"),
    {
        "variant, wording": text(),
        "order": count(),
        "run": count("from 1"),
        "unit_id, code": text(),
        "prompt": text("version and hash of the instructions with the code as the codebook has it"),
        "n_left_out": count("examples and counter-examples left out of it, because they are this text"),
        "messages": Column(
            "any",
            "what is sent: the instructions (role system), and the conversation with the "
            "text last (role user)",
        ),
    },
    row="One row per variant, code and text that is not blank, in the order of asking: code by code",
)

ANSWERS: Final = Contract(
    "answers",
    ("variant", "unit_id", "code"),
    {
        "unit_id, code, variant, wording": text(),
        "order": count(),
        "run": count("from 1"),
        "verdict": text('"yes", "no", "unsure"; missing where there is no readable reply', missing=True),
        "start, end": count(
            "the quoted words in code points, half-open; both missing: the whole text, or no "
            "quote that counts",
            missing=True,
        ),
        "why": text(
            "the model's reason in its words; missing where it gave none, or where it was not written",
            missing=True,
        ),
        "prompt": text("as in `prompts`; missing for a blank text", missing=True),
        "reason": reason(
            "why there is no decision: `unsure`, `quote_not_in_text`, `no_quote`, `unparsable`, "
            "`no_answer`, `blank_text`"
        ),
        "in_the_codebook": flag(
            "whether the text is an example of the code in the codebook: it was left out of "
            "its own prompt, and says little about the model"
        ),
    },
    row="One row per variant, text and code that was asked for; without a `reason`, the model decided",
)

BEHAVIOUR: Final = Contract(
    "behaviour",
    ("code", "test"),
    {
        "code": text(),
        "test": text(
            '"form" (usable replies), "definition" (the definition as a text gets yes), "examples" '
            '(each, left out of its own prompt, gets yes; counter-examples no), "name" (with "Code A" '
            'as its label, the same verdict), "swap" (under the label of another code, the same '
            'verdict), "order" (rules and examples shuffled, the same verdict), "instruction" (a text '
            "with the verdict no that also asks for a yes: still no)"
        ),
        "n_passed": count("prompts that passed"),
        "n": count("prompts asked; a reply that cannot be used did not pass"),
        "share": share("n_passed / n; missing where n is 0"),
    },
    row="One row per code and test",
)
