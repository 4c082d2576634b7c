// Earlier rulings on similar texts of the same code.
import { SIGNS } from "./queue";
import type { Session } from "./session";

export function SimilarTexts({ session }: { session: Session }) {
  const found = session.similar.value;
  return (
    <section class="s7-similar" aria-label="Earlier rulings on similar texts">
      <h5>Earlier rulings on similar texts</h5>
      {!found && <p class="s7-hint">Looking…</p>}
      {found && !found.rows.length && (
        <p class="s7-hint">{found.n_ruled ? `None of the ${found.n_ruled} texts settled on this code is similar.` : "No ruling on this code yet."}</p>
      )}
      {found?.note && <p class="s7-hint">{found.note}</p>}
      <ul>
        {found?.rows.map((row) => (
          <li key={row.unit_id}>
            <span class="s7-similar-line">
              <b class="s7-strong">
                {SIGNS[row.settled][0]} {SIGNS[row.settled][1]}
              </b>{" "}
              <span class="s7-unit-id">
                {row.unit_id} · {session.reasons.value.find(({ name }) => name === row.reason)?.label ?? "no reason"} · by {row.how}
              </span>
            </span>
            <span class="s7-similar-text" dir="auto">
              {row.text}
              {row.cut && "…"}
            </span>
            {row.note && (
              <span class="s7-similar-note" dir="auto">✎ {row.note}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
