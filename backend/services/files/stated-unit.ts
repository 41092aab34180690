import { open } from "node:fs/promises";
import { SOURCE_UNIT_NAMES, SOURCE_UNITS, type SourceUnits } from "../../../shared/contract/cloud-session/create.ts";
import type { LasCrs } from "../../native/files/readers.ts";

/** Unit that a file states in words. */
export type AxisUnit = SourceUnits | "deg";

const WORDS: Readonly<Record<AxisUnit, string>> = {
  m: "m meter metre meters metres",
  km: "km kilometer kilometre kilometers kilometres",
  cm: "cm centimeter centimetre centimeters centimetres",
  mm: "mm millimeter millimetre millimeters millimetres",
  ft: "ft foot feet",
  ftUS: "ftus usft",
  in: "in inch inches",
  deg: "deg degree degrees °",
};
const UNIT_OF: ReadonlyMap<string, AxisUnit> = new Map(
  (Object.keys(WORDS) as AxisUnit[]).flatMap((unit) => WORDS[unit].split(" ").map((word) => [word, unit] as const)),
);

/** The unit of a word such as "mm", "US-ft" or "inches"; null = none. */
export const unitNamed = (word: string): AxisUnit | null =>
  UNIT_OF.get(word.toLowerCase().replace(/[^\p{L}\p{N}°]/gu, "")) ?? null;

/** "File units = millimeters", "comment units: mm", "UNITS=mm". */
const STATED = /\bunits?\b(?:\s*(?:\bis\b|\bare\b|[:=])\s*["']?|\s+(?=[\w-]+\s*$))([\p{L}°-]+)/imu;

/** Comments about a file stand before its values. */
const HEAD_BYTES = 4096;

/** The unit that a comment states, if it is one of length or angle; null = none. */
export const unitOfComment = (comment: string): AxisUnit | null =>
  unitNamed(STATED.exec(comment.slice(0, HEAD_BYTES))?.[1] ?? "");

/** Where comments stand in each format. */
const COMMENTS = {
  obj: (head: string) => (head.match(/^\s*#.*$/gm) ?? []).join("\n"),
  pcd: (head: string) => (head.split(/^DATA/m)[0]?.match(/^\s*#.*$/gm) ?? []).join("\n"),
  ply: (head: string) => (head.split(/^end_header/m)[0]?.match(/^(?:comment|obj_info)\b.*$/gm) ?? []).join("\n"),
  stl: (head: string) => head.slice(0, 80).split("\n")[0] ?? "",
} as const;

/** The unit that the comments of a file state; null = none. */
export async function unitOfFile(path: string, kind: keyof typeof COMMENTS): Promise<AxisUnit | null> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return unitOfComment(COMMENTS[kind](buffer.toString("latin1", 0, bytesRead)));
  } finally {
    await file.close();
  }
}

export const UNIT_NAMES: Readonly<Record<AxisUnit, string>> = { ...SOURCE_UNIT_NAMES, deg: "degrees" };

const metres = (unit: AxisUnit | null) => (unit === null || unit === "deg" ? null : SOURCE_UNITS[unit]);

/** Units across and upwards as a coordinate system without a name. */
export const systemOfUnits = (across: AxisUnit | null, up: AxisUnit | null): LasCrs => ({
  epsg: null,
  vertical_epsg: null,
  is_geographic: across === "deg",
  unit_m: metres(across),
  unit_name: across === null ? "" : UNIT_NAMES[across],
  vertical_unit_m: metres(up),
  vertical_unit_name: up === null ? "" : UNIT_NAMES[up],
  wkt: "",
  citation: "",
  geotiff: null,
  warnings: [],
});
