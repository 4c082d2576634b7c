// The versions of the codebook: who made each, when and why; and any two side by side.
import { Button } from "../shared/button";
import { shownDate } from "../shared/times";
import type { Side, Version } from "./messages";
import type { Session } from "./session";

const KINDS: Record<string, string> = {
  add: "added",
  rename: "renamed",
  move: "moved",
  annotate: "annotated",
  reword: "reworded",
  narrow: "narrowed",
  widen: "widened",
  redefine: "redefined",
  merge: "merged",
  split: "split",
  retire: "retired",
};

export function Versions({ session }: { session: Session }) {
  const versions = session.versions.value;
  const compared = session.compared.value;
  return (
    <div class="s7-beside-body">
      <VersionView session={session} version="draft" chosen={compared}>
        <span class="s7-version-name">The draft</span>
      </VersionView>
      {versions.map(version => (
        <VersionView
          key={`${version.version} ${version.at}`}
          session={session}
          version={version.version}
          chosen={compared}
        >
          <span class="s7-version-name">
            {version.at === null ? "The first version" : `${shownDate(version.at)} · ${version.coder}`}
          </span>
          {version.why && <span dir="auto">{version.why}</span>}
          <ChangesOf version={version} />
        </VersionView>
      ))}
    </div>
  );
}

function ChangesOf({ version }: { version: Version }) {
  if (!version.changes.length) return null;
  return (
    <span class="s7-hint" dir="auto">
      {version.changes.map(({ kind, label }) => `${KINDS[kind] ?? kind} ${label}`).join(", ")}
    </span>
  );
}

function VersionView({
  session,
  version,
  chosen,
  children,
}: {
  session: Session;
  version: string;
  chosen: { one: string; other: string } | null;
  children: preact.ComponentChildren;
}) {
  const pick = (side: Side) => {
    const now = { one: chosen?.one ?? version, other: chosen?.other ?? version, [side]: version };
    session.compare(now.one, now.other);
  };
  return (
    <div class="s7-version">
      {children}
      <div class="s7-form-buttons">
        <Button aria-pressed={chosen?.one === version} onClick={() => pick("one")} words="Left" />
        <Button aria-pressed={chosen?.other === version} onClick={() => pick("other")} words="Right" />
      </div>
    </div>
  );
}

export function Comparison({ session }: { session: Session }) {
  const compared = session.compared.value;
  if (!compared) return <p class="s7-hint">Choose two versions.</p>;
  const named = (version: string) => {
    if (version === "draft") return "The draft";
    const one = session.versions.value.find(each => each.version === version);
    return one?.at ? `${shownDate(one.at)} · ${one.coder}` : "The first version";
  };
  return (
    <div class="s7-comparison" role="region" aria-label="Two versions" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Code</th>
            <th scope="col">{named(compared.one)}</th>
            <th scope="col">{named(compared.other)}</th>
          </tr>
        </thead>
        <tbody>
          {compared.rows.map((row, n) => (
            <tr key={n}>
              <th scope="row" dir="auto">
                {row.label || "The codebook"}
                {row.field && <span class="s7-field-hint"> {row.field.replace("_", " ")}</span>}
              </th>
              {[row.one, row.other].map((lines, side) => (
                <td key={side} dir="auto">
                  {lines.length ? lines.map((line, at) => <div key={at}>{line}</div>) : "–"}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {!compared.rows.length && <p class="s7-hint">No differences.</p>}
    </div>
  );
}
