// The map of the texts, drawn on a canvas: a click opens a theme, a line drawn around texts selects them.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../shared/button";
import { Select, type Option } from "../shared/fields";
import { nearestPlace, onCanvas, placesWithin, type Point } from "./lasso";
import type { Session } from "./session";

const EMBEDDED = "ThemesWidget(store, coder=…, embed=qual.models.embedder())";

const STAGES: Record<string, string> = {
  embed: "Reading the texts",
  place: "Placing the texts",
  cluster: "Grouping",
  resample: "Resampling",
  chance: "Comparing with chance",
  describe: "Describing",
};
/** Shorter lines are clicks. */
const CLICK = 5;

export function stageWords({ stage, done, total }: { stage: string; done: number; total: number }): string {
  return `${STAGES[stage] ?? stage}${total ? ` ${done} of ${total}` : ""}…`;
}

const [APPLIED, ABSENT, GREY] = [6, 2, "#8a8f98"];

/** How the value of a text is drawn: a colour, and how strongly. */
function inkOf(value: number, by: string, open: number | null, palette: readonly string[]): [string, number] {
  if (by && value > 0) return value === 2 ? [palette[APPLIED]!, 1] : [palette[ABSENT]!, 0.55];
  if (by || value < 0) return [GREY, 0.35];
  return [palette[value % palette.length]!, open === null || value === open ? 1 : 0.4];
}

function paint(canvas: HTMLCanvasElement, session: Session, line: readonly Point[]): void {
  const [places, pen] = [session.places.value, canvas.getContext("2d")];
  if (!places || !pen) return;
  const size = canvas.clientWidth;
  const sharp = devicePixelRatio || 1;
  if (canvas.width !== size * sharp) canvas.width = canvas.height = size * sharp;
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  pen.clearRect(0, 0, size, size);
  const [ink, by, values, open, lassoed] = [
    getComputedStyle(canvas).color,
    session.by.value,
    session.colours.value,
    session.open.value,
    session.lassoed.value,
  ];
  const radius = places.x.length > 3000 ? 1.8 : 3.2;
  const draw = (n: number, chosen: boolean) => {
    const at = onCanvas(places, n, size);
    if (!at) return;
    const [colour, strength] = inkOf(values[n] ?? -2, by, open, session.palette.value);
    pen.fillStyle = colour;
    pen.globalAlpha = lassoed.size ? (chosen ? 1 : 0.25) : strength;
    pen.beginPath();
    pen.arc(at[0], at[1], !by && values[n] === open ? radius + 1.2 : radius, 0, 2 * Math.PI);
    pen.fill();
    if (!chosen) return;
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    pen.stroke();
  };
  for (let n = 0; n < places.x.length; n++) if (!lassoed.has(n)) draw(n, false);
  lassoed.forEach(n => draw(n, true));
  if (line.length < 2) return;
  pen.globalAlpha = 1;
  pen.strokeStyle = ink;
  pen.setLineDash([5, 4]);
  pen.beginPath();
  line.forEach(([x, y], n) => (n ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.closePath();
  pen.stroke();
  pen.setLineDash([]);
}

function Canvas({ session }: { session: Session }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const line = useRef<Point[] | null>(null);
  const frame = useRef(0);
  const draw = () => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(
      () => canvas.current && paint(canvas.current, session, line.current ?? []),
    );
  };
  useEffect(() => {
    const observer = new ResizeObserver(draw);
    observer.observe(canvas.current!);
    const themed = new MutationObserver(draw); // another theme has other colours
    themed.observe(document.body, { attributes: true });
    return () => {
      observer.disconnect();
      themed.disconnect();
      cancelAnimationFrame(frame.current);
    };
  }, []);
  useLayoutEffect(draw, [
    session.places.value,
    session.colours.value,
    session.open.value,
    session.lassoed.value,
    session.palette.value,
  ]);

  const at = (event: PointerEvent): Point => {
    const box = canvas.current!.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    canvas.current!.setPointerCapture(event.pointerId);
    line.current = [at(event)];
  };
  const move = (event: PointerEvent) => {
    if (!line.current) return;
    line.current.push(at(event));
    draw();
  };
  const up = (event: PointerEvent) => {
    const [drawn, places] = [line.current, session.places.value];
    line.current = null;
    draw();
    if (!drawn || !places) return;
    const size = canvas.current!.clientWidth;
    const reach = Math.max(...drawn.map(([x, y]) => Math.abs(x - drawn[0]![0]) + Math.abs(y - drawn[0]![1])));
    if (reach >= CLICK) return session.lasso(placesWithin(places, drawn, size));
    const near = nearestPlace(places, at(event), size);
    const theme = near === null ? -1 : session.by.value ? -1 : (session.colours.value[near] ?? -1);
    if (theme >= 0) session.show(theme);
    else session.lasso([]);
  };
  return (
    <canvas
      ref={canvas}
      class="s7-map"
      role="img"
      aria-label="Map of the texts. The list of themes has the same content."
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={() => {
        line.current = null;
        draw();
      }}
    />
  );
}

function Selected({ session }: { session: Session }) {
  const n = session.nSelected.value;
  const [open, setOpen] = useState(true);
  if (!n)
    return <p class="s7-hint">Draw a line around texts to select them; click a text to open its theme.</p>;
  const rows = session.selected.value;
  return (
    <section class="s7-selected" aria-label="Selected texts">
      <div class="s7-line-of">
        <h4>
          {n} {n === 1 ? "text" : "texts"} selected
        </h4>
        <Button
          class="s7-quiet"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          words={open ? "Hide" : "Show"}
        />
        <Button class="s7-quiet" onClick={() => session.lasso([])} words="Clear" />
      </div>
      <p class="s7-hint">
        To read them text by text, run this cell:{" "}
        <code>qual.widgets.CodingWidget(store, coder="…", review=widget.selected)</code>
      </p>
      {open && (
        <ol class="s7-texts" tabIndex={0} aria-label="Selected texts">
          {rows.map(({ unit_id, text, theme }) => (
            <li key={unit_id}>
              <span class="s7-unit-id" dir="auto">
                {unit_id} · {session.named(theme)}
              </span>
              <p dir="auto">{text}</p>
            </li>
          ))}
        </ol>
      )}
      {open && rows.length < n && <Button onClick={() => session.more()} words="More" />}
    </section>
  );
}

export function MapPane({ session }: { session: Session }) {
  const going = session.mapping.value;
  return (
    <section class="s7-map-pane" aria-label="Map">
      {session.places.value ? (
        <>
          <div class="s7-line-of">
            <label>
              Colour by{" "}
              <Select
                value={session.by.value}
                options={[
                  ["", "theme"],
                  ...session.book.list.value
                    .filter(({ codable }) => codable)
                    .map(({ id, label }): Option => [id, `code: ${label}`]),
                ]}
                onPick={by => session.colour(by)}
              />
            </label>
            {session.by.value && (
              <span class="s7-legend">
                <i style={{ background: session.palette.value[APPLIED] }} /> applied{" "}
                <i style={{ background: session.palette.value[ABSENT] }} /> decided against{" "}
                <i style={{ background: GREY }} /> not decided
              </span>
            )}
          </div>
          <Canvas session={session} />
          <Selected session={session} />
        </>
      ) : going ? (
        <p class="s7-hint" role="status">
          {stageWords(going)} You can use the list in the meantime.
        </p>
      ) : (
        <p class="s7-hint">
          {session.embeds.value
            ? "Drawing the map…"
            : `For a map of the texts, open the widget with an embedding model: ${EMBEDDED}.`}
        </p>
      )}
    </section>
  );
}
