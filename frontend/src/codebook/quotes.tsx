// The quotes of the code that is open: by coder and text, searched, page by page.
import { Button } from "../shared/button";
import { Search, Select, type Option } from "../shared/fields";
import type { Quote } from "./messages";
import type { Session } from "./session";

export function QuoteList({ session }: { session: Session }) {
  const quotes = session.quotes.value;
  if (!quotes || quotes.code !== session.selected.value) return null;
  const waits = session.figures.value?.[quotes.code]?.waits;
  const look = (text: string) => {
    session.find.value = text;
    session.askQuotes(0);
  };
  return (
    <section class="s7-quotes-pane" aria-label="Quotes">
      <div class="s7-pane-line">
        <h5>
          {quotes.n === quotes.n_all
            ? `${quotes.n} ${quotes.n === 1 ? "quote" : "quotes"}`
            : `${quotes.n} of ${quotes.n_all} quotes`}
          {waits && <span class="s7-count"> · {waits}</span>}
        </h5>
        <Search
          class="s7-find-quotes"
          aria-label="Find in the quotes"
          placeholder="Find in the texts"
          defaultValue={session.find.value}
          onFind={look}
        />
        {quotes.coders.length > 1 && (
          <Select
            aria-label="Whose quotes"
            value={session.ofCoder.value}
            options={[["", "all coders"], ...quotes.coders.map((coder): Option => [coder, coder])]}
            onPick={coder => {
              session.ofCoder.value = coder;
              session.askQuotes(0);
            }}
          />
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
        {quote.stale && " · to review"}
      </span>
      <span class="s7-quote-words" dir="auto">
        {quote.before}
        <mark>{quote.words}</mark>
        {quote.after}
      </span>
    </>
  );
}
