// The texts of a theme with a box each, and the consent without which none of them is sent to a language
// model.
import { Button } from "./button";
import type { TickedTexts } from "./ticked";

export function TextBoxes({
  texts,
  legend,
  rows,
}: {
  texts: TickedTexts;
  legend: string;
  rows: readonly { unit_id: string; text: string }[];
}) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      {rows.map(({ unit_id, text }) => (
        <label key={unit_id} class="s7-example">
          <input
            type="checkbox"
            checked={texts.ticked.value.has(unit_id)}
            onChange={() => texts.tick(unit_id)}
          />
          <span dir="auto">{text}</span>
        </label>
      ))}
    </fieldset>
  );
}

export function AskCost({ texts, quiet = false }: { texts: TickedTexts; quiet?: boolean }) {
  const busy = texts.sending.value || texts.asking.value;
  if (texts.cost.value) return null;
  return (
    <Button
      class={quiet ? "s7-quiet" : undefined}
      disabled={busy || !texts.ticked.value.size}
      onClick={() => texts.askCost()}
      words="Let the language model draft it…"
    />
  );
}

/** What would be sent where, and the consent. */
export function ByChat({ texts, send }: { texts: TickedTexts; send: string }) {
  if (!texts.cost.value) return null;
  return (
    <div class="s7-by-chat" role="group" aria-label="Draft by the language model">
      <p>{texts.cost.value}</p>
      <label>
        <input
          type="checkbox"
          checked={texts.consented.value}
          onChange={event => (texts.consented.value = event.currentTarget.checked)}
        />{" "}
        I agree that the ticked texts are sent there
      </label>
      <Button
        disabled={!texts.consented.value || texts.asking.value || !texts.ticked.value.size}
        onClick={() => texts.askChat()}
        words={texts.asking.value ? "Asking…" : send}
      />
    </div>
  );
}
