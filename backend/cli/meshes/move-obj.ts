import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { type Motion, moved } from "./mesh.ts";

const BLOCK_CHARACTERS = 1 << 20;
/** Decimals of metres: a tenth of a micrometre. */
const DECIMALS = 7;

/**
 * Copies an OBJ file with its vertices and normals moved. Everything else stays: faces, materials, texture coordinates,
 * groups. Returns the names of the material libraries, which the copy needs beside it.
 */
export async function moveObj(source: string, matrix: Motion, path: string, signal: AbortSignal): Promise<string[]> {
  const turn = matrix.map((value, i) => (i % 4 === 3 && i < 12 ? 0 : value));
  const libraries: string[] = [];
  const lines = createInterface({ input: createReadStream(source, "latin1"), crlfDelay: Infinity });
  const file = await open(path, "wx");
  let block = "";
  let pending = "";
  try {
    for await (const part of lines) {
      const line = pending + part;
      // A backslash continues a vertex on the next line; other statements are copied as they are.
      if (/^\s*vn?\s/.test(line) && line.endsWith("\\")) {
        pending = `${line.slice(0, -1)} `;
        continue;
      }
      pending = "";
      const library = /^\s*mtllib\s+(.*\S)\s*$/.exec(line)?.[1];
      if (library !== undefined) libraries.push(library);
      block += `${movedLine(line, matrix, turn)}\n`;
      if (block.length < BLOCK_CHARACTERS) continue;
      signal.throwIfAborted();
      await file.writeFile(block, "latin1");
      block = "";
    }
    await file.writeFile(block, "latin1");
  } finally {
    lines.close();
    await file.close();
  }
  return libraries;
}

function movedLine(line: string, matrix: Motion, turn: Motion): string {
  const [, keyword] = /^\s*(vn?)\s/.exec(line) ?? [];
  if (keyword === undefined) return line;
  const [x, y, z, ...rest] = line.trim().split(/\s+/).slice(1);
  const place = [Number(x), Number(y), Number(z)] as const;
  if (!place.every(Number.isFinite)) return line;
  const numbers = moved(keyword === "v" ? matrix : turn, place).map((value) => value.toFixed(DECIMALS));
  return [keyword, ...numbers, ...rest].join(" ");
}
