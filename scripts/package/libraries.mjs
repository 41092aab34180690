// The libraries of the system that an unpacked app needs, as Debian packages, read from its programs with readelf.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Debian packages by library; `a | b` where newer releases renamed them. */
const PACKAGES = [
  [/^(libc|libm|libdl|libpthread|librt|ld-linux.*)\.so/, "libc6"],
  [/^libstdc\+\+\.so/, "libstdc++6"],
  [/^libgcc_s\.so/, "libgcc-s1"],
  [/^(libglib|libgobject|libgio|libgmodule)-2\.0\.so/, "libglib2.0-0 | libglib2.0-0t64"],
  [/^(libnss3|libnssutil3|libsmime3)\.so/, "libnss3"],
  [/^(libnspr4|libplc4|libplds4)\.so/, "libnspr4"],
  [/^libdbus-1\.so/, "libdbus-1-3"],
  [/^libatk-1\.0\.so/, "libatk1.0-0 | libatk1.0-0t64"],
  [/^libatk-bridge-2\.0\.so/, "libatk-bridge2.0-0 | libatk-bridge2.0-0t64"],
  [/^libatspi\.so/, "libatspi2.0-0 | libatspi2.0-0t64"],
  [/^libcups\.so/, "libcups2 | libcups2t64"],
  [/^libgtk-3\.so|^libgdk-3\.so/, "libgtk-3-0 | libgtk-3-0t64"],
  [/^libpango-1\.0\.so/, "libpango-1.0-0"],
  [/^libcairo\.so/, "libcairo2"],
  [/^libgbm\.so/, "libgbm1"],
  [/^libdrm\.so/, "libdrm2"],
  [/^libexpat\.so/, "libexpat1"],
  [/^libxkbcommon\.so/, "libxkbcommon0"],
  [/^libasound\.so/, "libasound2 | libasound2t64"],
  [/^libudev\.so/, "libudev1"],
  [/^libX11\.so/, "libx11-6"],
  [/^libX(composite|damage|ext|fixes|randr)\.so/, (found) => `libx${found[1]}${X_MAJOR[found[1]]}`],
  [/^libxcb\.so/, "libxcb1"],
];
const X_MAJOR = { composite: 1, damage: 1, ext: 6, fixes: 3, randr: 2 };
/** Loaded by name at run time, so no program names them; the app does not start without them. */
const LOADED = ["libgtk-3-0 | libgtk-3-0t64", "libx11-xcb1"];
/** First releases of libstdc++6 that have the symbols of GLIBCXX_3.4.n. */
const LIBSTDCXX = { 29: "11", 30: "12", 31: "13.1", 32: "13.2", 33: "14", 34: "15" };

const ELF = Buffer.from("\x7fELF", "latin1");

/** The programs and libraries below a folder. */
export function elfFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return elfFiles(path);
    return entry.isFile() && readFileSync(path).subarray(0, 4).equals(ELF) ? [path] : [];
  });
}

/** The field Depends of a deb. Errors: a library that no package of the table has, readelf missing. */
export function dependsOf(folder) {
  const files = elfFiles(folder);
  const text = files.map((file) => readelf(file)).join("\n");
  const shipped = new Set(files.map((file) => file.split("/").at(-1)));
  const needed = [...text.matchAll(/\(NEEDED\).*\[(.+)\]/g)].map((match) => match[1]);
  const packages = [...new Set([...needed.filter((name) => !shipped.has(name)).map(packageOf), ...LOADED])];
  const glibc = newest(text, /GLIBC_2\.(\d+)/g);
  const cxx = newest(text, /GLIBCXX_3\.4\.(\d+)/g);
  const atLeast = { libc6: `2.${glibc}`, "libstdc++6": LIBSTDCXX[cxx] ?? (cxx > 34 ? fail(cxx) : "11") };
  return packages.sort().map((name) => (name in atLeast ? `${name} (>= ${atLeast[name]})` : name));
}

function packageOf(library) {
  for (const [pattern, name] of PACKAGES) {
    const found = pattern.exec(library);
    if (found) return typeof name === "string" ? name : name(found);
  }
  throw new Error(`the app needs ${library}; say in scripts/package/libraries.mjs which Debian package has it`);
}

function readelf(file) {
  const { status, stdout, error } = spawnSync("readelf", ["-d", "-V", "-W", file], {
    encoding: "utf8",
    maxBuffer: 2 ** 27,
  });
  if (status !== 0)
    throw new Error(`readelf of the package binutils cannot read ${file}${error ? `: ${error.message}` : ""}`);
  return stdout;
}

const newest = (text, pattern) => Math.max(0, ...[...text.matchAll(pattern)].map((match) => Number(match[1])));
const fail = (cxx) => {
  throw new Error(`GLIBCXX_3.4.${cxx} is newer than the table in scripts/package/libraries.mjs`);
};
