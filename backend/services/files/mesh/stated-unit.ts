import { open } from "node:fs/promises";
import type { Job } from "../../../jobs/job.ts";

/** Comments about the file stand before its vertices. */
const HEAD_BYTES = 4096;
/** "File units = millimeters", "comment units: mm", "UNITS=mm". */
const STATED =
  /\bunits?\b(?:\s*(?:\bis\b|\bare\b|[:=])\s*["']?|\s+(?=\w+\s*$))(mm|millimet(?:er|re)s?|cm|centimet(?:er|re)s?|km|kilomet(?:er|re)s?|m|met(?:er|re)s?|in|inch(?:es)?|ft|feet|foot)\b/im;

/** Where comments stand in each format. */
const COMMENTS = {
  obj: (head: string) => (head.match(/^\s*#.*$/gm) ?? []).join("\n"),
  ply: (head: string) => (head.split(/^end_header/m)[0]?.match(/^(?:comment|obj_info)\b.*$/gm) ?? []).join("\n"),
  stl: (head: string) => head.slice(0, 80).split("\n")[0] ?? "",
} as const;

/** Warns of a unit other than metres that the comments of a mesh file state. */
export async function statedUnitWarnings(path: string, kind: keyof typeof COMMENTS, job: Job): Promise<string[]> {
  job.checkpoint();
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const unit = STATED.exec(COMMENTS[kind](buffer.toString("latin1", 0, bytesRead)))?.[1];
    if (unit === undefined || /^m(?:et(?:er|re)s?)?$/i.test(unit)) return [];
    return [`The file states its unit ("${unit}"); meshes are read as metres: scale it first.`];
  } finally {
    await file.close();
  }
}
