/** Bytes of a stored name: file systems take 255, and partial files beside it have longer names. */
const MAX_NAME_BYTES = 200;
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

/**
 * A name for a file of this name that every file system takes: without folders, control characters, the characters
 * <>:"/\|?*, a dot at either end, and the names of devices on Windows; at most 200 bytes, of which the extension stays.
 */
export function uploadName(given: string): string {
  const base = given.normalize("NFC").split(/[/\\]/).at(-1) ?? "";
  const clean = [...base]
    .map((char) => (isPlain(char) ? char : "_"))
    .join("")
    .replace(/^[. ]+|[. ]+$/g, "");
  const dot = clean.lastIndexOf(".");
  const extension = dot > 0 ? shortened(clean.slice(dot), 20) : "";
  const stem = dot > 0 ? clean.slice(0, dot) : clean;
  const safe = stem === "" || RESERVED.test(stem.split(".", 1)[0] ?? "") ? `_${stem}` : stem;
  return shortened(safe, MAX_NAME_BYTES - Buffer.byteLength(extension)) + extension;
}

/** Lone surrogates have no bytes of their own, and directional marks make a name read as another. */
function isPlain(char: string): boolean {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0xd800 && code < 0xe000)) return false;
  if ((code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
    return false;
  return !'<>:"/\\|?*'.includes(char);
}

/** The longest start of a text with whole characters and at most `bytes` bytes. */
function shortened(text: string, bytes: number): string {
  let out = "";
  let size = 0;
  for (const char of text) {
    size += Buffer.byteLength(char);
    if (size > bytes) break;
    out += char;
  }
  return out;
}
