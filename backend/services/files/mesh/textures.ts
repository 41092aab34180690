import { open } from "node:fs/promises";
import { basename, extname } from "node:path";
import { MAX_TEXTURE_BYTES, MIB } from "../../../../shared/limits.ts";
import type { Job } from "../../../jobs/job.ts";
import type { MtlMaterial } from "../../../native/files/mesh.ts";
import { limited, shown } from "./materials.ts";
import { referencedFile } from "./references.ts";

/** Images of the materials of a mesh. */
export interface Textures {
  /** Base64 of each file by a name that is unique. */
  readonly images: Readonly<Record<string, string>>;
  /** That name for each material that has an image. */
  readonly name_of: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

const bytes = (text: string) => Buffer.from(text, "latin1");

/** First bytes of the image formats; TGA has none and goes by its extension. */
const SIGNATURES: readonly (readonly [number, Buffer])[] = [
  [0, bytes("\x89PNG\r\n\x1a\n")],
  [0, bytes("\xff\xd8\xff")],
  [0, bytes("GIF8")],
  [0, bytes("BM")],
  [0, bytes("II*\0")],
  [0, bytes("MM\0*")],
  [8, bytes("WEBP")],
  [0, bytes("DDS ")],
];

function isImage(head: Buffer, path: string): boolean {
  if (extname(path).toLowerCase() === ".tga") return true;
  return SIGNATURES.some(([at, magic]) => head.subarray(at, at + magic.length).equals(magic));
}

/** Reads the images that materials name. A missing or refused image is reported, and its material has none. */
export async function readTextures(meshPath: string, materials: readonly MtlMaterial[], job: Job): Promise<Textures> {
  const images: Record<string, string> = Object.create(null);
  const name_of = new Map<string, string>();
  const key_of = new Map<string, string>();
  const warnings: string[] = [];
  let left = MAX_TEXTURE_BYTES;
  for (const [done, { name, texture, last_token }] of materials.entries()) {
    job.advance(done / materials.length);
    if (texture === "") continue;
    const refuse = (problem: string) =>
      warnings.push(`Texture "${shown(texture)}" of material "${shown(name)}" ${problem}.`);
    let file = await referencedFile(meshPath, texture);
    if ("problem" in file && last_token !== texture) {
      const other = await referencedFile(meshPath, last_token);
      if ("path" in other) file = other;
    }
    if ("problem" in file) {
      refuse(file.problem);
      continue;
    }
    const known = key_of.get(file.path);
    if (known !== undefined) {
      name_of.set(name, known);
      continue;
    }
    const read = await imageOf(file.path, left);
    if (typeof read === "string") {
      refuse(read);
      continue;
    }
    left -= read.length;
    const key = uniqueName(basename(file.path), images);
    images[key] = read.toString("base64");
    key_of.set(file.path, key);
    name_of.set(name, key);
  }
  return { images, name_of, warnings: limited(warnings, "textures") };
}

/** Contents of an image of at most `most` bytes, or why it cannot be used. */
async function imageOf(path: string, most: number): Promise<Buffer | string> {
  try {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      if (size > most) {
        return `is left out: it has ${(size / MIB).toFixed(1)} MiB, and the images of a mesh may have ${MAX_TEXTURE_BYTES / MIB} MiB in total`;
      }
      const head = Buffer.alloc(16);
      await file.read(head, 0, head.length, 0);
      if (!isImage(head, path)) return "is not an image (PNG, JPEG, GIF, BMP, TIFF, WebP, DDS or TGA)";
      const contents = Buffer.alloc(size);
      const { bytesRead } = await file.read(contents, 0, size, 0);
      return bytesRead === size ? contents : "became shorter while it was read";
    } finally {
      await file.close();
    }
  } catch (error) {
    return `cannot be read: ${(error as Error).message}`;
  }
}

/** `name`, or with a number before its extension if another image has that name. */
function uniqueName(name: string, images: Readonly<Record<string, string>>): string {
  const extension = extname(name);
  const stem = name.slice(0, name.length - extension.length);
  let unique = name;
  for (let i = 2; unique in images; i += 1) unique = `${stem} (${i})${extension}`;
  return unique;
}
