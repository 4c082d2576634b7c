// Says that the page has no kernel any more, what was not saved, and how to go on; below it no key does anything.
(() => {
  const AGAIN_MS = 5000;
  const LOST_MS = 60000; // a hub that restarts answers for a server that it has not found again yet
  const options = document.currentScript.dataset;
  let gone = false, lost = 0, answers = 0, last = Date.now();

  const touched = (event) => {
    if (gone) event.stopImmediatePropagation();
    else last = Date.now();
  };
  for (const name of ["keydown", "keyup", "keypress", "pointerdown"]) addEventListener(name, touched, true);
  // Whoever opens the page again has read what was not saved.
  addEventListener("beforeunload", (event) => gone && event.stopImmediatePropagation());

  async function look() {
    if (gone) return;
    const config = JSON.parse(document.getElementById("jupyter-config-data").textContent);
    const token = document.cookie.match(/\b_xsrf=([^;]*)/)?.[1] ?? "";
    const asked = fetch(`${config.baseUrl}api/kernels/${config.kernelId}`, { headers: { "X-XSRFToken": token } });
    // Without a network there is no answer, and the widget says so itself; who is signed out is led to the hub's door.
    const answer = await asked.catch(() => ({}));
    const { status, redirected, headers } = answer;
    // The server itself says in JSON that it has no such kernel; a proxy that has just started knows no page yet.
    const isEnded = status === 404 && headers.get("content-type")?.includes("json");
    const isLost = status === 424 || status === 503 || (status === 404 && !isEnded);
    lost = isLost ? lost || Date.now() : 0;
    // A line that was cut is laid again soon after the server answers, and not anew at each look.
    answers = status === 200 && !redirected ? answers + 1 : 0;
    if (answers % 3 === 2) dispatchEvent(new Event("s7-answers"));
    const isOut = status === 403 || (status === 200 && redirected);
    if (isOut || isEnded || (isLost && Date.now() - lost > LOST_MS)) show(await reason(answer, isOut, isEnded));
  }

  async function reason(answer, isOut, isEnded) {
    if (isOut) return "You are signed out.";
    const { message } = isEnded ? await answer.json().catch(() => ({})) : {};
    if (message?.includes(options.newer)) return "Paused, because you opened a newer page.";
    return Date.now() - last > 900 * options.open ? "Paused after an hour." : "The page was ended.";
  }

  function show(why) {
    if (gone) return;
    gone = true;
    const unsaved = [];
    dispatchEvent(new CustomEvent("s7-unsaved", { detail: unsaved }));
    const typed = [...document.querySelectorAll(".s7 textarea")].map((field) => field.value.trim()).filter(Boolean);
    const [dialog, words, field, button] = ["dialog", "p", "textarea", "button"].map((name) => document.createElement(name));
    words.textContent = unsaved.length ? notSaved(unsaved) : why + (typed.length ? "" : " All is saved.");
    if (typed.length) words.textContent += " What you were typing is not saved; copy it from here:";
    field.value = typed.join("\n\n");
    Object.assign(field, { readOnly: true, hidden: !typed.length, ariaLabel: "What you were typing" });
    button.textContent = unsaved.length || typed.length ? "Open again" : "Go on";
    button.onclick = () => (options.onward ? location.assign(options.onward) : location.reload());
    dialog.id = "s7-paused";
    dialog.role = "alertdialog";
    dialog.ariaLabel = words.textContent;
    dialog.onclose = () => dialog.showModal();
    dialog.oncancel = (event) => event.preventDefault();
    dialog.append(words, field, button);
    document.body.append(dialog);
    dialog.showModal();
    button.focus();
  }

  function notSaved(unsaved) {
    const more = unsaved.length > 3 ? ` and ${unsaved.length - 3} more` : "";
    const n = unsaved.length === 1 ? "1 change was" : `${unsaved.length} changes were`;
    return `${n} not saved: ${unsaved.slice(0, 3).join(", ")}${more}.`;
  }

  addEventListener("load", () => setInterval(look, AGAIN_MS));
  addEventListener("visibilitychange", () => document.hidden || look());
})();
