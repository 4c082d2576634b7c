// The codebook widget as anywidget loads it: one session and its page in each place where it is shown.
import { render as draw } from "preact";
import type { Model } from "../shared/channel";
import { watchTheme } from "../shared/theme";
import { Page } from "./page";
import { Session } from "./session";

interface View {
  model: Model;
  el: HTMLElement;
}

export default {
  render({ model, el }: View): () => void {
    const session = new Session(model);
    const themed = watchTheme();
    draw(<Page session={session} />, el);
    return () => {
      // In this order: a field in mid-sentence becomes a step when it goes, and is kept for the next kernel.
      draw(null, el);
      session.close();
      themed();
    };
  },
};
