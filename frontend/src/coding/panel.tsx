// The right-hand column: the codes, what the coder should know, and one panel.
import { Button, Space } from "../shared/button";
import { CodePicker } from "../shared/codepicker";
import { Definition } from "../shared/definition";
import type { Code } from "../shared/protocol";
import { BesideTable } from "./besides";
import { AgainBar, NewerMeaning, Rule } from "./lookagainview";
import { FeedbackPanel, TrainingBanner } from "./feedback";
import { CodeMemoButton, SpanMemos } from "./memoforms";
import type { Unit } from "./messages";
import { NewCodeForm } from "./newcodeform";
import { PassagePane } from "./passagepane";
import type { TabName } from "./panels";
import type { Session } from "./session";
import { Side } from "./side";
import { SuggestionsPanel } from "./suggestionspanel";
import { joined } from "../shared/words";

const NAMES: Record<TabName, string> = {
  rule: "Rule",
  passages: "Passages",
  memos: "Memos",
  suggested: "Suggested",
  compare: "Compare",
  training: "Training",
};

interface Props {
  session: Session;
  unit: Unit | null;
  onPick: (code: Code) => void;
  onFind: () => void;
}

export function RightColumn({ session, unit, onPick, onFind }: Props) {
  const { newCode } = session;
  const add = unit && !newCode.seen.value && (
    <Button
      class="s7-quiet s7-new-code-button"
      title={`Name a missing code (${session.commands.value.new_code ?? ""})`}
      onClick={() => session.presses.inTurn(() => session.openNewCode(), unit)}
      words="+ New code"
    />
  );
  return (
    <div class="s7-right">
      <CodePicker
        book={session.book}
        codings={unit?.codings ?? []}
        absent={session.suggestions.absent.value}
        disabled={session.total.value === 0}
        onPick={onPick}
        onFind={onFind}
      >
        {add}
      </CodePicker>
      <div class="s7-notices">
        <TrainingBanner session={session} />
        <NewerMeaning session={session} />
        <AgainBar session={session} />
      </div>
      <PanelView session={session} unit={unit} />
    </div>
  );
}

function PanelView({ session, unit }: { session: Session; unit: Unit | null }) {
  const { panel } = session;
  const shown = panel.shown.value;
  const rule = session.again.step.value?.rule;
  const asked = rule?.code === session.book.open.value?.id ? rule : undefined;
  const names = joined(["s7-panel", panel.isOpen.value && "s7-open-panel"]);
  if (shown === "side")
    return (
      <div class={names}>
        <Side session={session} />
      </div>
    );
  return (
    <div class={names}>
      {shown === "new" ? (
        <div class="s7-panel-head">
          <strong>New code</strong>
          <Space />
          <Button
            class="s7-quiet"
            aria-label="Close"
            title="Close (Esc)"
            onClick={() => session.newCode.close()}
            words="×"
          />
        </div>
      ) : (
        <Tabs session={session} unit={unit} shown={shown} />
      )}
      {shown === "new" && <NewCodeForm session={session} />}
      {shown === "rule" && asked && <Rule rule={asked} />}
      {shown === "rule" && !asked && (
        <Definition book={session.book} beside={code => <CodeMemoButton session={session} code={code} />} />
      )}
      {shown === "passages" && <PassagePane session={session} />}
      {shown === "training" && <FeedbackPanel session={session} />}
      {unit && shown === "memos" && <SpanMemos session={session} unit={unit} />}
      {unit && shown === "suggested" && <SuggestionsPanel session={session} unit={unit} />}
      {unit && shown === "compare" && <BesideTable session={session} unit={unit} />}
    </div>
  );
}

function Tabs({ session, unit, shown }: { session: Session; unit: Unit | null; shown: TabName }) {
  const { panel } = session;
  return (
    <div class="s7-panel-head" role="group" aria-label="Panel">
      {panel.tabs.value.map(name => (
        <Button
          key={name}
          class="s7-tab"
          aria-pressed={name === shown}
          title={
            name === "passages"
              ? `Where you applied this code (${session.commands.value.passages ?? ""})`
              : undefined
          }
          onClick={() => panel.pick(name)}
        >
          {NAMES[name]}
          {name === "memos" && <small> {unit?.memos.length}</small>}
        </Button>
      ))}
      <Space />
      <Button
        class="s7-quiet s7-close-panel"
        aria-label="Close the panel"
        title="Close (Esc)"
        onClick={() => panel.close()}
        words="×"
      />
    </div>
  );
}
