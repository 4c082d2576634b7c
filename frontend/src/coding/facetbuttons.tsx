// A coding's facets for the mouse, and the strip that shows their keys.
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../shared/button";
import type { Coding, Facet, FacetValue } from "../shared/protocol";
import type { Session } from "./session";
import { bringIn } from "../shared/onscreen";

/**
 * More values than these have no room beside a coding: there only what is set stands, and the strip has all.
 */
const MOST_BESIDE = 4;

interface Props {
  session: Session;
  coding: Coding;
  /** What its code is called. */
  label: string;
  take: (action: () => void) => void;
}

export function FacetButtons(props: Props) {
  const { session, coding, label, take } = props;
  const facets = session.book.facetsOf(coding.code);
  const values = facets.flatMap(facet => facet.values.map(value => ({ facet, value })));
  const few = values.length <= MOST_BESIDE;
  const shown = few ? values : values.filter(({ facet, value }) => coding.facets[facet.name] === value.name);
  return (
    <span class="s7-facets">
      {shown.map(({ facet, value }) => (
        <ValueButton key={`${facet.name}=${value.name}`} {...props} facet={facet} value={value} />
      ))}
      {!few && (
        <Button
          class="s7-facet"
          aria-expanded={session.facets.isOn(coding)}
          aria-label={`${label}: facets`}
          onClick={() => take(() => session.facets.toggle(coding))}
          words="facets"
        />
      )}
    </span>
  );
}

export function FacetStrip(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => bringIn(box.current), []);
  return (
    <div class="s7-strip" role="group" aria-label={`Facets of ${props.label}`} ref={box}>
      {props.session.book.facetsOf(props.coding.code).map(facet => (
        <div key={facet.name} class="s7-strip-facet">
          <span class="s7-strip-name">{facet.label}</span>
          {facet.values.map(value => (
            <ValueButton key={value.name} {...props} facet={facet} value={value} withKey />
          ))}
        </div>
      ))}
    </div>
  );
}

interface ValueProps extends Props {
  facet: Facet;
  value: FacetValue;
  withKey?: boolean;
}

function ValueButton({ session, coding, label, take, facet, value, withKey }: ValueProps) {
  return (
    <Button
      class="s7-facet"
      title={facet.label}
      aria-pressed={coding.facets[facet.name] === value.name}
      aria-label={`${label}: ${facet.label} ${value.label}`}
      onClick={event => {
        event.stopPropagation();
        take(() => session.facets.choice(coding, facet, value.name));
      }}
    >
      {withKey && value.key && <kbd>{value.key}</kbd>}
      {value.label}
    </Button>
  );
}
