// The form for a code that the codebook lacks.
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../shared/button";
import type { Session } from "./session";

export function NewCodeForm({ session }: { session: Session }) {
  const { newCode } = session;
  const field = useRef<HTMLInputElement>(null);
  const shown = newCode.seen.value !== null;
  useLayoutEffect(() => {
    if (!shown) return;
    field.current?.focus({ preventScroll: true });
    field.current?.select();
  }, [shown]);
  const seen = newCode.seen.value;
  if (!seen) return null;
  const adds = newCode.mode.value === "add";
  const input = (what: "label" | "definition", words: string, placeholder: string) => (
    <label>
      <span>{words}</span>
      <input
        ref={what === "label" ? field : undefined}
        class={`s7-new-${what}`}
        maxLength={what === "label" ? 200 : 1000}
        placeholder={placeholder}
        value={newCode[what].value}
        onInput={event => newCode.write(what, event.currentTarget.value)}
      />
    </label>
  );
  return (
    <section class="s7-new-code" role="group" aria-label="New code">
      {input("label", "Name", "What do you call it?")}
      <div class="s7-alike" role="status">
        {newCode.alike.value.length > 0 && <span>Similar codes:</span>}
        {newCode.alike.value.map(({ code, how }) => (
          <Button
            key={code.id}
            title={code.definition}
            disabled={!code.codable}
            onClick={() => newCode.use(code)}
          >
            Use “{code.label}” instead{how === "meaning" && <i> (similar in meaning)</i>}
          </Button>
        ))}
        {newCode.note.value && <span>{newCode.note.value}</span>}
      </div>
      {input("definition", "Definition", "In one line: when does it apply?")}
      {adds && (
        <label class="s7-new-example">
          <input
            type="checkbox"
            checked={newCode.example.value}
            onChange={event => (newCode.example.value = event.currentTarget.checked)}
          />{" "}
          <span>
            Keep {seen.start === null ? "this text" : "the selected words"} as an example. A participant’s
            words in the codebook are published with it and stay there if the participant withdraws.
          </span>
        </label>
      )}
      {newCode.problem.value && (
        <p class="s7-new-problem" role="alert">
          {newCode.problem.value}
        </p>
      )}
      <div class="s7-new-buttons">
        <Button
          class="s7-primary s7-new-send"
          disabled={newCode.busy.value}
          onClick={() => newCode.send()}
          words={adds ? "Add and apply" : "Propose to the lead"}
        />
        {adds && newCode.problem.value && (
          <Button onClick={() => newCode.send("propose")} words="Propose to the lead" />
        )}
        <Button onClick={() => newCode.close()} words="Cancel" />
      </div>
    </section>
  );
}
