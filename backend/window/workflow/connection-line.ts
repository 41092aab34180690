import type { Strings } from "../strings.ts";
import type { Connection, ConnectionState } from "./connection.ts";
import { ask } from "./dialog.ts";
import { byId, el } from "./dom.ts";

/** Tells the state of the connection, and asks for the token where it is refused. */
export function connectionLine(page: Document, connection: Connection, texts: Strings["workflow"]["connection"]): void {
  const line = byId(page, "connection");
  const word = el("span", {});
  line.append(el("span", { class: "dot", "aria-hidden": "true" }), word);
  connection.state.follow((state: ConnectionState) => {
    line.dataset.state = state;
    if (word.textContent !== texts[state]) word.textContent = texts[state];
    if (state === "denied") void askToken(page, texts);
  });
}

async function askToken(page: Document, texts: Strings["workflow"]["connection"]): Promise<void> {
  const input = el("input", { id: "access-token", type: "password", autocomplete: "off" });
  const isGiven = await ask(byId(page, "dialogs"), {
    title: texts.denied,
    content: [el("p", {}, texts.askToken), el("label", { for: "access-token" }, texts.token), input],
    yes: texts.useToken,
    no: texts.cancel,
  });
  if (!isGiven || input.value.trim() === "") return;
  location.hash = new URLSearchParams({ token: input.value.trim() }).toString();
  location.reload();
}
