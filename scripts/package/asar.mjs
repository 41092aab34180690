// Reads asar archives: a header in JSON behind four sizes of four bytes, then the files; large ones lie in a folder beside it.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";

/** The files of an archive: { path, size, unpacked, read }, paths with slashes. `read` gives the text. */
export function asarFiles(archive) {
  const [start, json] = withFile(archive, (read) => {
    const sizes = read(0, 16);
    return [8 + sizes.readUInt32LE(4), read(16, sizes.readUInt32LE(12)).toString("utf8")];
  });
  const files = [];
  const visit = (node, path) => {
    for (const [name, entry] of Object.entries(node.files)) {
      const full = path === "" ? name : `${path}/${name}`;
      if (entry.files) visit(entry, full);
      else {
        const { size = 0, offset, unpacked = false } = entry;
        const packed = () => withFile(archive, (read) => read(start + Number(offset), size).toString("utf8"));
        const text = unpacked ? () => readFileSync(join(`${archive}.unpacked`, full), "utf8") : packed;
        files.push({ path: full, size, unpacked, read: text });
      }
    }
  };
  visit(JSON.parse(json), "");
  return files;
}

function withFile(archive, body) {
  const file = openSync(archive, "r");
  try {
    return body((position, length) => {
      const bytes = Buffer.alloc(length);
      if (readSync(file, bytes, 0, length, position) < length) throw new Error(`${archive} ends early`);
      return bytes;
    });
  } finally {
    closeSync(file);
  }
}
