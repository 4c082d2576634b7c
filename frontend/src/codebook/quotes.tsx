// The quotes of the code that is open: by coder and text, searched, page by page.
import { useRef } from "preact/hooks";
import { Button } from "../shared/button";
import type { Quote } from "./messages";
import type { Session } from "./session";

const PAUSE_MS = 250;

export function QuoteList({ session }: { session: Session }) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const quotes = session.quotes.value;
  if (!quotes || quotes.code !== session.selected.value) return null;
  const look = (text: string) => {
    session.find.value = text;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => session.askQuotes(0), PAUSE_MS);
  };
  return (
    <section class="s7-quotes-pane" aria-label="Quotes">
      <div class="s7-pane-line">
        <h5>{quotes.n === quotes.n_all ? `${quotes.n} ${quotes.n === 1 ? "quote" : "quotes"}` : `${quotes.n} of ${quotes.n_all} quotes`}</h5>
        <input type="search" class="s7-find-quotes" aria-label="Find in the quotes" placeholder="Find in the texts" value={session.find.value} onInput={(event) => look(event.currentTarget.value)} />
        {quotes.coders.length > 1 && (
          <select
            aria-label="Whose quotes"
            value={session.ofCoder.value}
            onChange={(event) => {
              session.ofCoder.value = event.currentTarget.value;
              session.askQuotes(0);
            }}
          >
            <option value="">all coders</option>
            {quotes.coders.map((coder) => (
              <option key={coder} value={coder} selected={coder === session.ofCoder.value}>
                {coder}
              </option>
            ))}
          </select>
        )}
      </div>
      <ul class="s7-quote-rows">
        {quotes.rows.map((quote, n) => (
          <li key={n}>
            <QuoteView quote={quote} />
          </li>
        ))}
      </ul>
      {quotes.rows.length < quotes.n && (
        <Button class="s7-more-quotes" onClick={() => session.askQuotes(quotes.rows.length)}>
          {quotes.n - quotes.rows.length} more
        </Button>
      )}
    </section>
  );
}

export function QuoteView({ quote }: { quote: Quote }) {
  return (
    <>
      <span class="s7-quote-of">
        {quote.coder} · {quote.unit_id}
        {quote.stale && " · to be reviewed"}
      </span>
      <span class="s7-quote-words" dir="auto">
        {quote.before}
        <mark>{quote.words}</mark>
        {quote.after}
      </span>
    </>
  );
}
