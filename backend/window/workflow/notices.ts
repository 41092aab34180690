import type { Strings } from "../strings.ts";
import { button, el } from "./dom.ts";

export type NoticeKind = "error" | "warning" | "info";

/** Messages in full, shown until they are dismissed. */
export class Notices {
  readonly #place: HTMLElement;
  readonly #texts: Strings["workflow"]["notices"];

  constructor(place: HTMLElement, texts: Strings["workflow"]["notices"]) {
    this.#place = place;
    this.#texts = texts;
  }
  /** Adds a message; a second one with the same words is not added. Returns a function that removes it. */
  add(kind: NoticeKind, title: string, sentences: readonly string[] = []): () => void {
    const key = JSON.stringify([kind, title, sentences]);
    for (const shown of this.#place.children) {
      if (shown instanceof HTMLElement && shown.dataset.notice === key) return () => shown.remove();
    }
    const notice = el(
      "section",
      { class: `notice notice-${kind}`, role: kind === "error" ? "alert" : "status", "data-notice": key },
      el("div", { class: "notice-head" }, el("strong", {}, `${this.#texts[kind]}: ${title}`)),
      sentences.length === 1 && el("p", {}, sentences[0]),
      sentences.length > 1 && el("ul", {}, ...sentences.map((sentence) => el("li", {}, sentence))),
    );
    const dismiss = button("×", () => this.#dismiss(notice), {
      class: "notice-close",
      "aria-label": this.#texts.dismiss(title),
    });
    notice.querySelector(".notice-head")?.append(dismiss);
    this.#place.prepend(notice);
    return () => notice.remove();
  }
  /** The focus goes on to the next message, or to the view. */
  #dismiss(notice: HTMLElement): void {
    const next = notice.nextElementSibling ?? notice.previousElementSibling;
    const target = next?.querySelector<HTMLElement>(".notice-close");
    notice.remove();
    (target ?? document.querySelector<HTMLElement>("#view [tabindex], #view canvas"))?.focus({ preventScroll: true });
  }
}
