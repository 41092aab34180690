import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** The Rust crate e57 as WebAssembly (npm web-e57), so that our files are read by a program that is not ours. */
interface ForeignReader {
  __wbg_set_wasm(exports: object): void;
  convertE57(bytes: Uint8Array, format: "XML" | "XYZ" | "JSON"): string;
}

/** The part of the global of the same name that is used; its types come with those of browsers only. */
interface Wasm {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ readonly instance: { readonly exports: object } }>;
}

let loaded: Promise<ForeignReader> | null = null;

async function load(): Promise<ForeignReader> {
  const folder = dirname(createRequire(import.meta.url).resolve("web-e57"));
  const reader = (await import(pathToFileURL(join(folder, "e57_bg.js")).href)) as ForeignReader;
  const { WebAssembly: wasm } = globalThis as unknown as { readonly WebAssembly: Wasm };
  const bytes = readFileSync(join(folder, "e57_bg.wasm"));
  const { instance } = await wasm.instantiate(bytes, { "./e57_bg.js": reader });
  reader.__wbg_set_wasm(instance.exports);
  return reader;
}

export interface ForeignPoint {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** The points of each scan as that reader sees them, and the XML section. */
export async function readByOthers(
  bytes: Uint8Array,
): Promise<{ scans: ForeignPoint[][]; lines: string[]; xml: string }> {
  loaded ??= load();
  const reader = await loaded;
  return {
    scans: JSON.parse(reader.convertE57(bytes, "JSON")) as ForeignPoint[][],
    lines: reader.convertE57(bytes, "XYZ").trimEnd().split("\n"),
    xml: reader.convertE57(bytes, "XML"),
  };
}
