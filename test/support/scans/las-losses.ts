// What a LAS or LAZ file loses when it is read and written back, on raw records of decoders that are not ours.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { exportTail, type TestApp } from "../app/app.ts";
import { DATA } from "./data-folder.ts";
import { type RawLas, readRawLas } from "./las-records.ts";

export type LasFormat = "las" | "laz";

/** Refused or without points: nothing to write back. */
const REFUSED = /malformed.(1\.2-no-points|broken_coder|broken_size|no-points|garbage_nVariableLength)/;
/** Compressed in ways that the other decoder does not know; the same points are there uncompressed. */
const TWINS = /formats.(pdrf10-1\.4|pdrf4-1\.3|point-version-1-point-wise)\.laz$/;

/** Every LAS and LAZ file of the test data that has points, below its folder; none where the data is not there. */
export function lasFiles(): readonly string[] {
  if (!existsSync(join(DATA, "MANIFEST.md"))) return [];
  const files = readdirSync(DATA, { recursive: true }) as string[];
  return files.filter((file) => /\.la[sz]$/i.test(file) && !REFUSED.test(file)).sort();
}

/** The raw records of one of them. */
export function sourceRecords(file: string): Promise<RawLas> {
  const path = join(DATA, file);
  return readRawLas(readFileSync(TWINS.test(file) ? path.replace(/laz$/, "las") : path));
}

/** A session's points as an export writes them. */
export async function writtenRecords(app: TestApp, session_id: string, format: LasFormat): Promise<RawLas> {
  const tail = await exportTail(app, { source: { session_id, want_colors: true }, format });
  if (!tail.success || tail.data === null) throw new Error(`export: ${tail.error}`);
  return readRawLas(Buffer.from(tail.data, "base64"));
}

/** The name of a source field in a file that we write. Bytes without a description and wave packets become extras. */
const writtenAs = (name: string): string =>
  name.replace(/^undescribed /, "extra_bytes_").replace(/^(wave_packet_|return_point_location$|[xyz]_t$)/, "las_$1");

const zeroed = (value: number | bigint) => (Number(value) === 0 ? 0 : value);

/** What differs: a field that is absent counts as zeros. */
export function losses(source: RawLas, copy: RawLas): string[] {
  const found: string[] = source.count === copy.count ? [] : [`${source.count} points became ${copy.count}`];
  for (const [name, values] of source.fields) {
    const got = copy.fields.get(writtenAs(name)) ?? copy.fields.get(name);
    const at = values.findIndex((value, i) => !Object.is(zeroed(value), zeroed(got?.[i] ?? 0)));
    if (at >= 0) found.push(`${name}: ${values[at]} of point ${at} became ${got ? got[at] : "nothing"}`);
  }
  for (const key of ["scale", "offset"] as const)
    if (`${source[key]}` !== `${copy[key]}`) found.push(`${key}: ${source[key]} became ${copy[key]}`);
  return found;
}
