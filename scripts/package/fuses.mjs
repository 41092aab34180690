// Reads the fuses of an Electron program: switches that are bytes behind a mark in the file.
import { readFileSync } from "node:fs";

const MARK = "dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX";
/** Names as in electron-builder.yml, in the order of the bytes. */
const NAMES = [
  "runAsNode",
  "enableCookieEncryption",
  "enableNodeOptionsEnvironmentVariable",
  "enableNodeCliInspectArguments",
  "enableEmbeddedAsarIntegrityValidation",
  "onlyLoadAppFromAsar",
  "loadBrowserProcessSpecificV8Snapshot",
  "grantFileProtocolExtraPrivileges",
];

/** The fuses by name, true = on. Errors: the file has no fuses, or fuses of another version. */
export function readFuses(program) {
  const bytes = readFileSync(program);
  const at = bytes.indexOf(MARK, 0, "latin1");
  if (at < 0) throw new Error(`${program} has no fuses: it is no program of Electron`);
  const [version, count] = bytes.subarray(at + MARK.length);
  if (version !== 1 || count < NAMES.length)
    throw new Error(`${program} has ${count} fuses of version ${version}; this script knows version 1`);
  const states = bytes.subarray(at + MARK.length + 2).toString("latin1", 0, NAMES.length);
  return Object.fromEntries(NAMES.map((name, i) => [name, states[i] === "1"]));
}
