/** Longer lines are passed on in pieces of this length, so that a faulty process cannot fill the memory. */
export const MAX_LINE_CHARS = 65_536;

/** Splits chunks of text into lines. Call the result with each chunk, and with undefined to flush the last line. */
export function lineSplitter(onLine: (line: string) => void): (chunk: string | undefined) => void {
  let rest = "";
  const emit = (line: string) => {
    if (line !== "") onLine(line);
  };
  return (chunk) => {
    const lines = `${rest}${chunk ?? ""}`.split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) emit(line);
    while (rest.length > MAX_LINE_CHARS) {
      emit(rest.slice(0, MAX_LINE_CHARS));
      rest = rest.slice(MAX_LINE_CHARS);
    }
    if (chunk === undefined) {
      emit(rest);
      rest = "";
    }
  };
}

const ERROR_LEVEL = 50;
const MAX_WORDS_CHARS = 500;

/**
 * The failure in a log line, for a message to the user: the text of an error record (pino JSON), or the line itself if
 * it is not a record, as in a crash report. Undefined for a record below error level.
 */
export function failureIn(line: string): string | undefined {
  let record: { level?: unknown; msg?: unknown; err?: unknown } = {};
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed === "object" && parsed !== null) record = parsed;
  } catch {
    return line.trim().slice(0, MAX_WORDS_CHARS) || undefined; // not JSON: the line itself is the text
  }
  if (typeof record.level !== "number" || record.level < ERROR_LEVEL) return undefined;
  const { err } = record;
  const cause = typeof err === "string" ? err : (err as { message?: unknown } | null | undefined)?.message;
  const parts = [record.msg, cause].filter((part) => typeof part === "string" && part !== "");
  return parts.join(": ").slice(0, MAX_WORDS_CHARS) || undefined;
}

/** Lines of a crash report that name the cause; around them are the source line, the stack and versions. */
const CAUSE = /^(?:Uncaught )?(?:[A-Z]\w*)?Error(?: \[\w+\])?: |what\(\): /;

/** What a process said of its failure: the last line that names a cause or is an error record, else its last line. */
export class LastFailure {
  text: string | undefined;
  #isCause = false;

  hear(line: string): void {
    const failure = failureIn(line);
    if (failure === undefined) return;
    const isCause = CAUSE.test(failure) || line.startsWith('{"');
    if (this.#isCause && !isCause) return;
    this.text = failure;
    this.#isCause = isCause;
  }
}
