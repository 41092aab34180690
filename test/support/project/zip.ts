import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";

/** Writes an archive of members that are stored, in order. */
export async function zipOf(path: string, members: Readonly<Record<string, Uint8Array | object>>): Promise<string> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(members)) {
    const isJson = !(content instanceof Uint8Array);
    const data = isJson ? Buffer.from(JSON.stringify(content)) : Buffer.from(content);
    zip.addBuffer(data, name, { compress: isJson });
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
  return path;
}
