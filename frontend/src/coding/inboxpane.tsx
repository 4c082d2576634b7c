// What waits for the coder, as a list; each item leads to what is to be done.
import { Button } from "../shared/button";
import { listBox } from "../shared/pagedrows";
import type { Session } from "./session";
import { Rule } from "./lookagainview";

export function InboxButton({ session }: { session: Session }) {
  const n = session.inbox.n.value;
  const open = session.texts.isOpen.value && session.side.value === "inbox";
  return (
    <Button
      class={n ? "s7-inbox-button" : "s7-inbox-button s7-none"}
      aria-expanded={open}
      title={`What waits for you (${session.commands.value.inbox ?? ""})`}
      onClick={() => session.showSide("inbox")}
    >
      Inbox{n > 0 && <b> {n}</b>}
    </Button>
  );
}

/** Do what the item is about. */
export function openItem(session: Session, index: number): void {
  const item = session.inbox.items.value[index];
  if (!item) return;
  const { inbox, texts } = session;
  inbox.cursor.value = index;
  inbox.shown.value = item.id;
  if (item.is_news) inbox.renew(item.id);
  if (item.here === false) return inbox.openRound(item.round ?? null);
  if (/reworded|earlier/.test(item.what)) return;
  if (item.what === "answer") return void (item.place != null && session.jump(item.place));
  texts.leave(true);
  if (item.what === "newer") session.newer.take();
  else if (item.what === "discussion") session.compare();
  else if (item.what === "training") session.presses.inTurn(() => session.nextUnfinished());
  else session.again.open(item.what === "new" ? "new" : "stale");
}

/** The list; what may be done about the marked item is below it. */
export function InboxPane({ session }: { session: Session }) {
  const { inbox } = session;
  const items = inbox.items.value;
  const marked = items[inbox.cursor.value];
  const id = `${session.texts.id}-inbox`;
  return (
    <>
      <div {...listBox(id, "Inbox", items.length, inbox.cursor.value)}>
        {items.map((item, index) => (
          <div
            key={item.id}
            id={`${id}-${index}`}
            class={item === marked ? "s7-row s7-item s7-cursor" : "s7-row s7-item"}
            role="option"
            aria-selected={item === marked}
            onClick={() => openItem(session, index)}
          >
            <strong dir="auto">{item.title}</strong>
            {item.more && <span dir="auto">{item.more}</span>}
          </div>
        ))}
      </div>
      {marked?.no && (
        <Button
          class="s7-quiet s7-refuse"
          onClick={() => session.again.refuse(marked)}
          words="Leave undecided"
        />
      )}
      {marked?.rule && inbox.shown.value === marked.id && <Rule rule={marked.rule} />}
      {!items.length && <p class="s7-hint">Nothing waits for you. What comes is counted in the header.</p>}
    </>
  );
}
