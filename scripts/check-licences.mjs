// The licences of the npm packages: what is shipped may be passed on under any terms, what only builds and tests may also
// be such that changes to it must be published. Reads package-lock.json and, where it is installed, the package itself.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./fingerprint.mjs";

/** Ask for no more than that their text goes along, which LICENSES.txt of the packages does. */
const SHIPPED = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
]);
/** MPL-2.0 binds changed files of the package alone. */
const NOT_SHIPPED = new Set([...SHIPPED, "MPL-2.0", "Python-2.0", "WTFPL"]);
const FEWEST_PACKAGES = 100;

/** Whether a licence expression (SPDX) leaves a choice that lies in `allowed`. Exceptions (WITH) are not known here. */
export function isAllowed(expression, allowed) {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const one = () => {
    const token = tokens[at++];
    if (token !== "(") return allowed.has(token);
    const inner = any();
    return tokens[at++] === ")" && inner;
  };
  const every = () => {
    let all = one();
    while (tokens[at] === "AND") {
      at += 1;
      all = one() && all;
    }
    return all;
  };
  const any = () => {
    let some = every();
    while (tokens[at] === "OR") {
      at += 1;
      some = every() || some;
    }
    return some;
  };
  const allowedWhole = any();
  return allowedWhole && at === tokens.length;
}

/** Folder of the package that `from` finds by a name, as Node does; undefined if the lock has none. */
function resolved(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (packages[path]) return path;
    if (folder === "") return undefined;
  }
}

/**
 * What is wrong with the licences of a lock file's packages. `imported` are the names that shipped code imports, `manifest`
 * gives the package.json of a folder (undefined = not installed), `listed` is the text that names the parts.
 */
export function licenceProblems({ lock, imported, manifest, listed }) {
  const { packages } = lock;
  const shipped = new Set();
  const add = (path) => {
    if (path === undefined || shipped.has(path)) return;
    shipped.add(path);
    const { dependencies = {}, optionalDependencies = {} } = packages[path];
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) add(resolved(packages, path, name));
  };
  const { dependencies = {}, optionalDependencies = {} } = packages[""];
  const direct = Object.keys({ ...dependencies, ...optionalDependencies });
  for (const name of [...direct, ...imported]) add(resolved(packages, "", name));
  const problems = [];
  for (const [path, { license }] of Object.entries(packages)) {
    if (path === "") continue;
    const use = shipped.has(path) ? "shipped" : "for development";
    const allowed = shipped.has(path) ? SHIPPED : NOT_SHIPPED;
    const own = manifest(path);
    for (const [where, text] of [["package-lock.json", license], ...(own ? [["its package.json", own.license]] : [])]) {
      if (typeof text !== "string") problems.push(`${path} (${use}) has no licence in ${where}`);
      else if (!isAllowed(text, allowed)) problems.push(`${path} (${use}) is under ${text}, says ${where}`);
    }
  }
  for (const name of direct)
    if (!listed.split(/[\s,;|]+/).includes(name)) problems.push(`THIRD_PARTY.md does not name ${name}`);
  return { problems, shipped: shipped.size };
}

/** Names of the npm packages that the code of some folders imports. */
function importedPackages(folders) {
  const names = new Set();
  for (const folder of folders)
    for (const file of readdirSync(join(root, folder), { recursive: true })) {
      if (!/\.tsx?$/.test(file)) continue;
      const text = readFileSync(join(root, folder, file), "utf8");
      for (const [, name] of text.matchAll(/(?:from|import\(?)\s*"((?:@[\w.-]+\/)?[\w.-]+)[^"\n]*"/g)) names.add(name);
    }
  return [...names];
}

function check() {
  const read = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));
  const lock = read("package-lock.json");
  const count = Object.keys(lock.packages).length - 1;
  if (count < FEWEST_PACKAGES) return [`found ${count} packages: is the check still finding anything?`];
  const { problems, shipped } = licenceProblems({
    lock,
    // Electron comes with its own texts of licences; types leave nothing in the bundles.
    imported: importedPackages(["backend", "shared"]).filter((name) => name !== "electron"),
    manifest: (path) => (existsSync(join(root, path, "package.json")) ? read(`${path}/package.json`) : undefined),
    listed: readFileSync(join(root, "THIRD_PARTY.md"), "utf8"),
  });
  if (problems.length === 0) console.log(`licences ok: ${count} npm packages, ${shipped} of them shipped`);
  return problems;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const problems = check();
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
