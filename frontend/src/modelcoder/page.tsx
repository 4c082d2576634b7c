// The widget of a model that codes on screen: the prompt on the left, the text with the answer on the right,
// below what is
// asked of the model.
import { useRef } from "preact/hooks";
import { Button, Space } from "../shared/button";
import { Conversation } from "../shared/conversation";
import { Bar, Frame, WAITING, Who } from "../shared/frame";
import { scrollsText } from "../shared/more";
import { TextView } from "../shared/textview";
import type { Shown } from "./messages";
import { Missing } from "./missing";
import { SIGNS, type Session } from "./session";

const KEYS: [string, string][] = [
  ["↓ ↑", "Next text, previous text"],
  ["→ ←", "Next code, previous code"],
  ["j k", "Scroll the prompt down, up"],
  ["PgDn PgUp", "Scroll the text"],
  ["c", "The conversation before"],
  ["x", "Agree that the prompts are sent there, or no longer agree"],
  ["t", "Try five texts"],
  ["a", "Code all texts, or those that are left"],
  ["s", "Stop; the answers so far are kept"],
  ["m", "List the missing answers (↓ ↑ and Enter open one)"],
  ["r", "Record what the model coded"],
];
const STEP = 60;

export function Page({ session }: { session: Session }) {
  const root = useRef<HTMLDivElement>(null);

  const back = () => {
    if (!session.missing.value) return false;
    session.list();
    return true;
  };
  const scroll = (by: number) => root.current?.querySelector(".s7-prompt")?.scrollBy({ top: by });
  const commands: Record<string, () => void> = {
    ArrowDown: () => session.go(1),
    ArrowUp: () => session.go(-1),
    ArrowRight: () => session.nextCode(1),
    ArrowLeft: () => session.nextCode(-1),
    j: () => scroll(STEP),
    k: () => scroll(-STEP),
    c: () => (session.showConversation.value = !session.showConversation.value),
    x: () => session.agree(),
    t: () => session.send("try"),
    a: () => session.send("code"),
    s: () => session.stop(),
    m: () => session.list(),
    r: () => session.record(),
    Enter: () => session.missing.value && session.openMissing(),
  };

  return (
    <Frame
      {...{ session, root, commands, back }}
      name="modelcoder"
      label="A model that codes"
      keys={KEYS}
      repeats={/^Arrow|^[jk]$/}
      press={event => scrollsText(root.current!, event.key)}
      home=".s7"
      still="button, .s7-wanting"
      bar={
        <>
          <Who session={session} role="The lead" title={session.model.value} />
          <Done session={session} />
        </>
      }
      placeholder={!session.coder.value && WAITING}
    >
      <div class="s7-panes s7-model-panes">
        <Prompt session={session} shown={session.shown.value} />
        {session.missing.value ? (
          <Missing session={session} rows={session.missing.value} />
        ) : (
          <Answered session={session} shown={session.shown.value} />
        )}
      </div>
      <Desk session={session} />
    </Frame>
  );
}

/** How many prompts are answered. */
function Done({ session }: { session: Session }) {
  const state = session.state.value;
  if (!state?.ready) return <Space />;
  const more = state.n_tokens > 0 && ` · ${state.n_tokens.toLocaleString("en")} tokens`;
  return (
    <div class="s7-progress">
      <Bar label="Prompts answered" done={state.n_answers} of={state.n_prompts} />
      <span class="s7-numbers">
        {state.n_answers} of {state.n_prompts}{" "}
        <span class="s7-wide">
          prompts answered · {state.n_missing} missing{more}
        </span>
      </span>
    </div>
  );
}

function Prompt({ session, shown }: { session: Session; shown: Shown | null }) {
  return (
    <section class="s7-asked" aria-label="Code and prompt">
      <ul class="s7-model-codes" aria-label="Codes">
        {session.codes.value.map(({ id, label }) => {
          const [sign, words] = SIGNS[shown?.verdicts[id] ?? ""];
          return (
            <li key={id}>
              <Button
                class="s7-model-code"
                aria-pressed={id === session.code.value}
                style={{ "--s7-c": session.book.looks.value.get(id)?.colour ?? "currentColor" }}
                onClick={() => session.open(session.place.value, id)}
              >
                <span dir="auto">{label}</span>
                {sign && (
                  <span class="s7-strong" role="img" aria-label={words} title={words}>
                    {sign}
                  </span>
                )}
              </Button>
            </li>
          );
        })}
      </ul>
      <h4>The prompt, exactly as it is sent</h4>
      <div class="s7-prompt s7-box" tabIndex={0} role="region" aria-label="The prompt">
        {shown?.messages.map(({ role, content }) => (
          <section key={role} aria-label={role}>
            <h5>{role}</h5>
            <p dir="auto">{content}</p>
          </section>
        ))}
        {shown && !shown.messages.length && <p class="s7-hint">This text is blank: nothing is sent.</p>}
      </div>
    </section>
  );
}

function Answered({ session, shown }: { session: Session; shown: Shown | null }) {
  const [place, n] = [session.place.value, session.n.value];
  const said = shown?.answer;
  const quoted = said?.verdict === "yes" && said.start !== null;
  const codings = quoted
    ? [{ code: shown!.code, start: said.start, end: said.end, facets: {}, confidence: null }]
    : [];
  return (
    <section class="s7-said" aria-label="The text">
      <div class="s7-said-line">
        <span class="s7-unit-id" dir="auto">
          {shown?.unit_id ?? ""}
        </span>
        <span class="s7-count">
          text {place + 1} of {n}
        </span>
        <Space />
        <Button
          aria-label="Previous text"
          title="Previous text (↑)"
          disabled={place === 0}
          onClick={() => session.open(place - 1)}
          words="‹"
        />
        <Button
          aria-label="Next text"
          title="Next text (↓)"
          disabled={place + 1 >= n}
          onClick={() => session.open(place + 1)}
          words="›"
        />
      </div>
      {shown && (
        <Conversation
          unit={shown}
          open={session.showConversation.value}
          onToggle={() => (session.showConversation.value = !session.showConversation.value)}
        />
      )}
      {shown ? (
        <TextView
          key={shown.unit_id}
          unit={{ unit_id: shown.unit_id, text: shown.text, codings }}
          book={session.book}
        />
      ) : (
        <p class="s7-reading s7-hint">Reading the text…</p>
      )}
      <div class="s7-verdict-of" role="group" aria-label="The model’s answer" tabIndex={0}>
        {shown && <Verdict session={session} shown={shown} />}
      </div>
    </section>
  );
}

function Verdict({ session, shown }: { session: Session; shown: Shown }) {
  const said = shown.answer;
  if (shown.hidden)
    return (
      <p class="s7-hint">
        You have yet to code this text. The model’s answer stays hidden until you finish it.
      </p>
    );
  if (!said) return <p class="s7-hint">The model has not been asked about this text and code.</p>;
  const [sign, words] = SIGNS[said.verdict];
  return (
    <>
      <p>
        <span class="s7-strong">
          {sign} <span dir="auto">{session.label(shown.code)}</span>
        </span>{" "}
        {words}
        {said.verdict === "yes" &&
          (said.start === null ? (
            " to the whole text"
          ) : (
            <>
              : <q dir="auto">{shown.text.slice(said.start, said.end!)}</q>
            </>
          ))}
        {said.reason && `: ${said.reason}`}
      </p>
      {said.why && (
        <p class="s7-why-said">
          Why, in the model’s words: <span dir="auto">{said.why}</span>
        </p>
      )}
    </>
  );
}

/** What is sent where, the consent, and the buttons; while the model is asked, how far it is. */
function Desk({ session }: { session: Session }) {
  const [state, busy] = [session.state.value, session.busy.value];
  const may = !busy && !!state?.cost && !!session.agreed.value;
  const asks = state?.doing === "trying" || state?.doing === "coding";
  const words = !state?.ready
    ? "Making the prompts…"
    : !session.chats.value
      ? "The widget was opened without a language model: the prompts can be read, and nothing can be sent."
      : state.cost || "Everything was asked.";
  return (
    <div class="s7-model-desk" role="group" aria-label="Ask the model">
      <label class="s7-consent">
        {state?.cost && (
          <input
            type="checkbox"
            checked={!!session.agreed.value}
            disabled={busy}
            onChange={() => session.agree()}
          />
        )}
        <span>
          {state?.cost && <strong>I agree: </strong>}
          {words}
        </span>
      </label>
      <div class="s7-model-buttons">
        <Button disabled={!may} onClick={() => session.send("try")} press="t" words="Try five" />
        <Button
          class={state?.complete ? undefined : "s7-primary"}
          disabled={!may}
          onClick={() => session.send("code")}
          press="a"
          words={state?.n_answers ? "Code the rest" : "Code all"}
        />
        <Button
          disabled={!asks || session.stopping.value}
          onClick={() => session.stop()}
          press="s"
          words={session.stopping.value ? "Stopping…" : "Stop"}
        />
        <Button
          aria-pressed={!!session.missing.value}
          disabled={!state?.ready}
          onClick={() => session.list()}
          press="m"
          words={state?.n_missing ? `Missing (${state.n_missing})` : "Missing"}
        />
        <Button
          class={state?.complete ? "s7-primary" : undefined}
          disabled={busy || !state?.complete || state.recorded}
          onClick={() => session.record()}
          press="r"
          words={state?.recorded ? "Recorded" : "Record"}
        />
        {asks && (
          <span class="s7-progress s7-asking">
            <Bar label="Asked now" done={state.done} of={state.total} />
            <span class="s7-numbers">{state.total ? `${state.done} of ${state.total}` : "Loading…"}</span>
          </span>
        )}
      </div>
    </div>
  );
}
