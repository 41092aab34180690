import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import { Base64Bytes } from "../../../shared/wire/json-values.ts";
import { resourceFolder } from "../../native/core/resources.ts";

const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*\.png$/;

/** Images of the leaf textures by file name. Errors: invalid_file for a texture that the product does not have. */
export async function leafTextures(files: readonly string[]): Promise<Record<string, Base64Bytes>> {
  const images: Record<string, Base64Bytes> = {};
  for (const file of files) images[file] = new Base64Bytes(await textureBytes(file));
  return images;
}

/** Less than a MiB in all. */
const READ = new Map<string, Uint8Array>();

/** Contents of a leaf texture, read once. */
export async function textureBytes(file: string): Promise<Uint8Array> {
  const known = READ.get(file);
  if (known) return known;
  if (!FILE_NAME.test(file)) throw new AppError("invalid_file", `"${file}" is not the name of a leaf texture`);
  try {
    const bytes = await readFile(join(resourceFolder("leaf-textures"), file));
    READ.set(file, bytes);
    return bytes;
  } catch (error) {
    throw new AppError("invalid_file", `the leaf texture ${file} cannot be read: ${(error as Error).message}`);
  }
}
