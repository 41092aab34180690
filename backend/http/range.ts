/** The part of a file a request asked for; both ends included, bytes. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a Range header against a file of `size` bytes. Source: RFC 9110 section 14.
 * `whole`: no header, several ranges, or none this server understands - the whole file is the legal answer.
 * `unsatisfiable`: a valid range that starts behind the end.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | "whole" | "unsatisfiable" {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "");
  if (!match) return "whole";
  const [, first = "", last = ""] = match;
  if (first === "") {
    if (last === "") return "whole";
    const count = Math.min(Number(last), size);
    return count > 0 ? { start: size - count, end: size - 1 } : "unsatisfiable";
  }
  const start = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== "" && Number(last) < start) return "whole"; // not a valid range: ignored
  return start < size ? { start, end } : "unsatisfiable";
}
