interface Range {
  readonly type: string;
  readonly q: number;
}

/**
 * True when a request prefers plain JSON to a stream: its Accept header names application/json with a higher quality
 * than the most specific matching range gives application/octet-stream. "application/json" prefers JSON;
 * "*\/*", "application/json, *\/*" (equal quality) and a missing header do not.
 * Source: RFC 9110 section 12.5.1. Ranges whose q is not a number from 0 to 1 are ignored.
 */
export function prefersJson(accept: string | undefined): boolean {
  const ranges = parsed(accept ?? "");
  const json = ranges.find(({ type }) => type === "application/json")?.q ?? 0;
  const octets = ["application/octet-stream", "application/*", "*/*"]
    .map((type) => ranges.find((range) => range.type === type)?.q)
    .find((q) => q !== undefined);
  return json > (octets ?? 0);
}

/** True when a request names application/octet-stream with a higher quality than application/json. */
export function prefersFrame(accept: string | undefined): boolean {
  const ranges = parsed(accept ?? "");
  const quality = (name: string) => ranges.find(({ type }) => type === name)?.q ?? 0;
  return quality("application/octet-stream") > quality("application/json");
}

function parsed(accept: string): Range[] {
  return accept.split(",").flatMap((part) => {
    const [type = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const text = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, "");
    const q = text === undefined ? 1 : /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : Number.NaN;
    return type === "" || Number.isNaN(q) ? [] : [{ type, q }];
  });
}
