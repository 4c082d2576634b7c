// The adjudication widget as anywidget loads it: one session and its page in each place where it is shown.
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
      draw(null, el);
      session.close();
      themed();
    };
  },
};
