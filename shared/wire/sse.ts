/** An event of a text/event-stream; `data` without its final line break. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Parses Server-Sent Events from chunks of any size. Source: WHATWG HTML, section 9.2.6; `id` and `retry` are ignored,
 * because runs are not reconnected. An event that the stream ends in is discarded.
 */
export class EventParser {
  readonly #decoder = new TextDecoder(); // removes a byte order mark
  #line = "";
  #afterReturn = false;
  #event = "";
  #data: string[] = [];

  push(chunk: Uint8Array): ServerEvent[] {
    const out: ServerEvent[] = [];
    const text = this.#decoder.decode(chunk, { stream: true });
    let at = this.#afterReturn && text.startsWith("\n") ? 1 : 0;
    if (text !== "") this.#afterReturn = false;
    const ends = /\r\n|\n|\r/g;
    ends.lastIndex = at;
    for (let end = ends.exec(text); end; end = ends.exec(text)) {
      this.#take(this.#line + text.slice(at, end.index), out);
      this.#line = "";
      at = ends.lastIndex;
      this.#afterReturn = end[0] === "\r" && at === text.length;
    }
    this.#line += text.slice(at);
    return out;
  }

  #take(line: string, out: ServerEvent[]): void {
    if (line === "") {
      if (this.#data.length > 0) out.push({ event: this.#event || "message", data: this.#data.join("\n") });
      this.#event = "";
      this.#data = [];
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const rest = colon < 0 ? "" : line.slice(colon + 1);
    const value = rest.startsWith(" ") ? rest.slice(1) : rest;
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
  }
}
