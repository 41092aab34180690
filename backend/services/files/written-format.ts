import { open } from "node:fs/promises";

/** Bytes from which a file's content is recognized. */
const HEAD_BYTES = 64 << 10;

/**
 * First bytes of LAS and LAZ, E57, TIFF and BigTIFF in both byte orders, PLY, PCD, ESRI ASCII grids, projects, scan bundles and
 * paths.
 */
const STARTS = [
  /^LASF/,
  /^ASTM-E57/,
  /^II[*+]\0/,
  /^MM\0[*+]/,
  /^ply\r?\n/,
  /^(# \.PCD |VERSION \.?\d)/,
  /^PK[\s\S]{28}manifest\.json/,
  /^ncols\s+\d+\s+nrows\s+\d+\s/i,
  /^<\?xml [^>]*\?>\s*<scanBundle>/,
  /^t,x,y,z,qx,qy,qz,qw\r?\n/,
];
const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$|^[-+]?(nan|inf(inity)?)$/i;
const OBJ_LINE = /^(#|v |vn |vt |f |o |g |s |mtllib |usemtl )/;

/** True if the file's content is a format that this service writes, or if it is empty. */
export async function isWrittenFormat(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, HEAD_BYTES));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    const text = bytes.toString("latin1", 0, bytesRead);
    if (size === 0 || STARTS.some((start) => start.test(text))) return true;
    const lines = text.split(/\r?\n/);
    if (size > bytesRead) lines.pop(); // cut off
    return isObj(lines) || isTable(lines);
  } finally {
    await file.close();
  }
}

const isObj = (lines: readonly string[]): boolean =>
  lines.every((line) => line === "" || OBJ_LINE.test(line)) && lines.some((line) => line.startsWith("v "));

/** Rows of numbers, after a header of names that begins with x, y, z or after none. PTS and PTX begin with counts. */
function isTable(lines: readonly string[]): boolean {
  const full = lines.map((line) => line.trim()).filter((line) => line !== "");
  const [first = "", ...others] = full; // comments elsewhere are the user's
  const rows = [first.replace(/^(\/\/|#)[ \t]*/, ""), ...others].map((line) => line.split(/[ \t]*[,;][ \t]*|[ \t]+/));
  const names = (rows[0] ?? []).map((name) => name.toLowerCase());
  const points = names.slice(0, 3).join() === "x,y,z" ? rows.slice(1) : rows;
  return (
    points.every((fields) => fields.every((field) => field === "" || NUMBER.test(field))) &&
    points.some((fields) => fields.length >= 3)
  );
}
