// The kinds of act: whose each is, and whether it undoes another or does it again.
// Written by `python scripts/make_kinds.py` from sense7_qual/acts/_kinds.py.
export const KINDS = {
  apply: { by: "coder", takesBack: false },
  remove: { by: "coder", takesBack: false },
  finish: { by: "coder", takesBack: false },
  reopen: { by: "coder", takesBack: false },
  memo: { by: "coder", takesBack: false },
  rule: { by: "lead", takesBack: false },
  propose: { by: "coder", takesBack: false },
  show_suggestions: { by: "coder", takesBack: false },
  reject_suggestion: { by: "coder", takesBack: false },
  describe: { by: "coder", takesBack: false },
  abstain: { by: "coder", takesBack: false },
  quote: { by: "lead", takesBack: false },
  undo: { by: "coder", takesBack: true },
  redo: { by: "coder", takesBack: true },
  open_round: { by: "team", takesBack: false },
  answer: { by: "team", takesBack: false },
  unblind: { by: "team", takesBack: false },
  assign: { by: "team", takesBack: false },
  revise: { by: "team", takesBack: false },
  set_options: { by: "team", takesBack: false },
  record_themes: { by: "team", takesBack: false },
  edit_theme: { by: "team", takesBack: false },
  preregister: { by: "team", takesBack: false },
} as const;

export type Kind = keyof typeof KINDS;
