import { button, type Child, el } from "./dom.ts";

export interface Question {
  readonly title: string;
  readonly content: readonly Child[];
  /** Words of the button that goes on, and of the one that does not. */
  readonly yes: string;
  readonly no: string;
}

/** Asks in a modal dialog. True: go on. Escape means no. The focus returns to where it was. */
export function ask(place: HTMLElement, { title, content, yes, no }: Question): Promise<boolean> {
  const heading = el("h2", { id: "dialog-title", class: "dialog-title" }, title);
  const answerNo = button(no, () => dialog.close("no"));
  const answerYes = el("button", { type: "submit", class: "primary" }, yes);
  const form = el(
    "form",
    {
      on: {
        submit: (event) => {
          event.preventDefault();
          dialog.close("yes");
        },
      },
    },
    heading,
    ...content,
    el("div", { class: "dialog-buttons" }, answerNo, answerYes),
  );
  const dialog = el("dialog", { "aria-labelledby": "dialog-title" }, form);
  const before = document.activeElement;
  place.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
      resolve(dialog.returnValue === "yes");
    });
    dialog.showModal();
    form.querySelector<HTMLElement>("input, select")?.focus();
  });
}
