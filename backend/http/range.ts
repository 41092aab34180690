/** Requested part of a file, in bytes; both ends are included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses the Range header of a request for a file of `size` bytes. Source: RFC 9110 section 14.
 * `whole`: the header is absent, lists several ranges or is not understood; RFC 9110 then allows the whole file.
 * `unsatisfiable`: a valid range that starts beyond the end of the file.
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
