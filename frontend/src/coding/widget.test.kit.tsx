// The coding widget as the build makes it.
import { widget } from "../shared/frame";
import { Page } from "./page";
import { Session } from "./session";

export default widget(Session, Page);
