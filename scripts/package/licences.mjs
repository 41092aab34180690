// The licences of everything that a desktop package ships, as one text file.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../fingerprint.mjs";

const LINE = "=".repeat(80);
const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i;
const DOC = "/usr/share/doc";
/** What is compiled into the addon, or lies beside it, with the Debian packages that have its licence. */
const ADDON_PARTS = [
  { name: "Eigen", texts: [`${DOC}/libeigen3-dev/copyright`] },
  { name: "fast_float", texts: [`${DOC}/libfast-float-dev/copyright`] },
  { name: "libdeflate", texts: [`${DOC}/libdeflate-dev/copyright`] },
];
const LIBGOMP = {
  name: "GNU libgomp (libgomp.so.1)",
  texts: [`${DOC}/libgomp1/copyright`, "/usr/share/common-licenses/GPL-3"],
};
/** Packages of npm that come without the text of their licence. */
const OWN_TEXTS = {
  "onnxruntime-common": ["resources/licences/onnxruntime.txt"],
  "onnxruntime-node": ["resources/licences/onnxruntime.txt", "resources/licences/onnxruntime-third-party.txt"],
};
const LOCK = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
/** Text of the MIT licence for packages that name it but ship no copy. */
const MIT = readFileSync(join(root, "LICENSE"), "utf8").split("\n").slice(4).join("\n");

/**
 * The parts of a package from the files in its archive, each { name, licence, texts }, texts = contents of files.
 * `bundled` are folders of npm packages whose code is in the bundles. Errors: a part whose licence is not found.
 */
export function shippedParts(files, bundled) {
  const own = ["LICENSE", "THIRD_PARTY.md"].map((file) => readFileSync(join(root, file), "utf8"));
  const folders = new Set([...bundled, ...files.filter(isManifest).map(installedFolder)]);
  const npm = [...folders].map(npmPart).sort((a, b) => (a.name < b.name ? -1 : 1));
  const parts = [{ name: "Point Cloud Backend", licence: "MIT", texts: own }, ...npm.filter(isFirst)];
  const has = (pattern) => files.some(({ path }) => pattern.test(path));
  if (has(/\/pc\.node$/)) parts.push(npmPart("node_modules/node-addon-api"), ...ADDON_PARTS.map(systemPart));
  if (has(/\/libgomp\.so/)) parts.push(systemPart(LIBGOMP));
  if (has(/\/(lib)?pc_cuda\./)) parts.push(systemPart(cudaRuntime()));
  return parts;
}

/** The parts as the text of one file. */
export function licenceText(parts, electronVersion) {
  const head = [
    "Licences of the parts of Point Cloud Backend",
    "",
    `Electron ${electronVersion} has its licence in LICENSE.electron.txt, and the licences of Chromium and what it contains in`,
    "LICENSES.chromium.html. The C and C++ libraries of the system are not part of this package.",
    "",
    ...parts.map(({ name, licence }) => `  ${name}${licence ? ` (${licence})` : ""}`),
  ];
  const bodies = parts.map(({ name, texts }) =>
    [LINE, name, LINE, ...texts.map((text) => text.trimEnd())].join("\n\n"),
  );
  return `${[head.join("\n"), ...bodies].join("\n\n\n")}\n`;
}

const isManifest = ({ path }) => /(^|\/)node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/.test(path);

/** Where a package of the archive is installed here: electron-builder arranges folders in its own way. */
function installedFolder({ path, read }) {
  const { name, version } = JSON.parse(read());
  const found = Object.entries(LOCK.packages).find(
    ([folder, entry]) => folder.endsWith(`node_modules/${name}`) && entry.version === version,
  );
  if (!found) throw new Error(`${path} in the package is ${name} ${version}, which package-lock.json does not have`);
  return found[0];
}

/** Two copies of a version of a package are one part. */
const isFirst = ({ name }, i, all) => all.findIndex((other) => other.name === name) === i;

function npmPart(folder) {
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const files = (OWN_TEXTS[manifest.name] ?? []).map((file) => join(root, file));
  if (files.length === 0)
    for (const name of readdirSync(join(root, folder)).sort())
      if (LICENCE_FILE.test(name)) files.push(join(root, folder, name));
  const texts = files.map((file) => readFileSync(file, "utf8"));
  const author = typeof manifest.author === "string" ? manifest.author : manifest.author?.name;
  if (texts.length === 0 && manifest.license === "MIT" && author)
    texts.push(`MIT License\n\nCopyright (c) ${author}\n\n${MIT}`);
  if (texts.length === 0)
    throw new Error(`${folder} has no file of its licence; add it to scripts/package/licences.mjs`);
  return { name: `${manifest.name} ${manifest.version}`, licence: manifest.license, texts };
}

function systemPart({ name, texts }) {
  const missing = texts.filter((file) => !existsSync(file));
  if (missing.length > 0)
    throw new Error(
      `the licence of ${name}, which is part of the package, is not on this machine (${missing.join(", ")})`,
    );
  return { name, texts: texts.map((file) => readFileSync(file, "utf8")) };
}

/** The CUDA runtime, which is linked into the module: its licence lies in the toolkit, in one of two places. */
function cudaRuntime() {
  const home = process.env.CUDA_HOME || "/usr/local/cuda";
  const infos = join(home, "dist-info");
  const found = existsSync(infos) ? readdirSync(infos).filter((name) => name.startsWith("nvidia_cuda_runtime")) : [];
  const files = [join(home, "EULA.txt"), ...found.map((name) => join(infos, name, "licenses", "License.txt"))];
  return { name: "CUDA runtime (in pc_cuda)", texts: [files.find((file) => existsSync(file)) ?? files[0]] };
}
