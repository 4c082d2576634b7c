// Whether everything is in the record: what is known of the changes kept here and of the kernel, and which state that is.
import type { Model } from "./channel";

export type SaveName = "saved" | "saving" | "waiting" | "failed" | "cut";

/** What is known of the changes that wait, and of the kernel. */
export interface Facts {
  /** So many changes are kept here. */
  kept: number;
  /** Whether anything else waits: presses, or a question that was asked long ago. */
  asked: boolean;
  /** Whether the kernel has said nothing for longer than usual. */
  late: boolean;
  /** Whether the kernel said that saving failed. */
  failed: boolean;
  /** Whether this page has no kernel any more that would hear of it. */
  cut: boolean;
}

/** Red words (`failed`, `cut`) are for what somebody must do something about; a kernel that runs a cell is none of it. */
export function saveName({ kept, asked, late, failed, cut }: Facts): SaveName {
  if (cut) return "cut";
  if (!kept && !asked) return "saved";
  if (failed) return "failed";
  return late ? "waiting" : "saving";
}

/** A kernel that is idle for so long and answers nothing does not know the widget: it was restarted. */
export const SILENCE_MS = 30_000;

/** What the host says first of a kernel that it restarts, that it found dead, and that another page restarted. */
const STARTS = ["restarting", "autorestarting", "starting"];

type Heard = (kernel: unknown, status: string) => void;

/** What the host says of its kernel; JupyterLab's widget manager has it, others may not. */
export interface Host {
  kernel?: {
    status?: string;
    connectionStatus?: string;
    statusChanged?: { connect(heard: Heard): void; disconnect(heard: Heard): void };
    commsOverSubshells?: string;
  } | null;
}

/** Tells a kernel that is busy from one that is gone, by what the host says of it. */
export class KernelWatch {
  private idleSince: number | null = null;
  /** Whether the kernel is another one, until something is heard after all. */
  private replaced = false;
  private readonly kernel: Host["kernel"];

  /** `gone` is called when the kernel was restarted. */
  constructor(
    model: Model,
    private readonly gone: () => void,
  ) {
    this.kernel = model.widget_manager?.kernel;
    this.kernel?.statusChanged?.connect(this.changed);
  }

  close(): void {
    this.kernel?.statusChanged?.disconnect(this.changed);
  }

  /** Something is sent; return whether there is nobody who would hear it. */
  sent(): boolean {
    const { status, connectionStatus } = this.kernel ?? {};
    if (status !== "idle") this.idleSince = null;
    else this.idleSince ??= Date.now();
    this.replaced ||= this.idleSince !== null && Date.now() - this.idleSince >= SILENCE_MS;
    return this.replaced || status === "dead" || connectionStatus === "disconnected";
  }

  heard(): void {
    this.idleSince = null;
    this.replaced = false;
  }

  private readonly changed: Heard = (_, status) => {
    if (!STARTS.includes(status)) return;
    this.close();
    if (status === "starting") this.doWithoutSubshells();
    this.replaced = true;
    this.gone();
  };

  /**
   * A restart that JupyterLab did not ask for itself: it would go on sending to a subshell of the kernel before, which
   * this one does not have, also what the widget of a cell that is run again says. Widgets made from now on have none.
   */
  private doWithoutSubshells(): void {
    if (this.kernel && "commsOverSubshells" in this.kernel) this.kernel.commsOverSubshells = "disabled";
  }
}
