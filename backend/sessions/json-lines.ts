/** A JSON text that is not valid, and the line. */
export class JsonLineError extends Error {
  constructor(
    readonly line: number,
    reason: string,
  ) {
    super(reason);
  }
}

type Path = readonly PropertyKey[];
const MAX_DEPTH = 64;
const STRING = /"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const BLANKS = /[ \t\r\n]*/y;

/**
 * The value of a JSON text, and the line, from 1, on which the value at a path begins; of a path that does not exist the
 * line of its longest part that does. Errors: JsonLineError, also above 64 levels.
 */
export function parseWithLines(text: string): { value: unknown; lineOf: (path: Path) => number } {
  const reader = new Reader(text);
  reader.value("", 0);
  reader.end();
  const lineOf = (path: Path): number => {
    for (let length = path.length; length > 0; length -= 1) {
      const offset = reader.offsets.get(keyOf(path.slice(0, length)));
      if (offset !== undefined) return reader.lineAt(offset);
    }
    return 1;
  };
  return { value: JSON.parse(text), lineOf };
}

const keyOf = (path: Path): string => path.map((part) => `/${JSON.stringify(String(part))}`).join("");

class Reader {
  readonly offsets = new Map<string, number>();
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  lineAt(offset: number): number {
    let line = 1;
    for (let i = this.#text.indexOf("\n"); i >= 0 && i < offset; i = this.#text.indexOf("\n", i + 1)) line += 1;
    return line;
  }

  value(path: string, depth: number): void {
    if (depth > MAX_DEPTH) throw this.#error(`nested deeper than ${MAX_DEPTH} levels`);
    this.#match(BLANKS);
    if (!this.offsets.has(path)) this.offsets.set(path, this.#at);
    if (this.#take("{")) this.#members(path, depth + 1);
    else if (this.#take("[")) this.#elements(path, depth + 1);
    else if (this.#string() === undefined && !this.#match(SCALAR)) throw this.#error("a value is expected");
    this.#match(BLANKS);
  }

  end(): void {
    if (this.#at < this.#text.length) throw this.#error("something follows the document");
  }

  #members(path: string, depth: number): void {
    this.#match(BLANKS);
    if (this.#take("}")) return;
    do {
      this.#match(BLANKS);
      const start = this.#at;
      const key = this.#string();
      if (key === undefined) throw this.#error("a key in quotes is expected");
      const inner = `${path}/${JSON.stringify(JSON.parse(key))}`;
      this.offsets.set(inner, start);
      this.#match(BLANKS);
      if (!this.#take(":")) throw this.#error("a colon is expected");
      this.value(inner, depth);
    } while (this.#take(","));
    if (!this.#take("}")) throw this.#error("a comma or } is expected");
  }

  #elements(path: string, depth: number): void {
    this.#match(BLANKS);
    if (this.#take("]")) return;
    let i = 0;
    do {
      this.value(`${path}/"${i}"`, depth);
      i += 1;
    } while (this.#take(","));
    if (!this.#take("]")) throw this.#error("a comma or ] is expected");
  }

  #string(): string | undefined {
    const found = this.#match(STRING);
    for (let i = 0; i < (found?.length ?? 0); i += 1) {
      if ((found?.charCodeAt(i) ?? 0) >= 0x20) continue;
      this.#at -= (found?.length ?? 0) - i;
      throw this.#error("no control character may stand in a string");
    }
    return found;
  }
  #take(symbol: string): boolean {
    if (this.#text[this.#at] !== symbol) return false;
    this.#at += 1;
    return true;
  }
  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
  #error(rule: string): JsonLineError {
    const found = this.#text[this.#at];
    return new JsonLineError(
      this.lineAt(this.#at),
      `not valid JSON: ${rule}, but found ${found === undefined ? "the end" : JSON.stringify(found)}`,
    );
  }
}
