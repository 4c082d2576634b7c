// The adjudication widget as anywidget loads it: one session and its page in each place where it is shown.
import { widget } from "../shared/frame";
import { Page } from "./page";
import { Session } from "./session";

export default widget(Session, Page);
