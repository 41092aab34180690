// Fails on an import that goes up a layer, on a cycle, and on an empty scan. One table for both languages.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { root } from "./fingerprint.mjs";

/** layer -> the layers it may use. Longest prefix wins; `shared` is open to all TypeScript. */
const below = {
  "backend/entry": [
    "backend/make-folder.ts",
    "backend/routes",
    "backend/deps.ts",
    "backend/logger.ts",
    "backend/version.ts",
    "backend/app.ts",
    "backend/config.ts",
    "backend/cli",
    "backend/http",
    "backend/jobs",
    "backend/sessions",
    "backend/services",
    "backend/native",
  ],
  "backend/cli": ["backend/config.ts"],
  "backend/app.ts": [
    "backend/http",
    "backend/routes",
    "backend/jobs",
    "backend/sessions",
    "backend/config.ts",
    "backend/deps.ts",
  ],
  "backend/deps.ts": ["backend/http", "backend/sessions"],
  "backend/logger.ts": ["backend/config.ts"],
  "backend/version.ts": [],
  "backend/file-moves.ts": [],
  "backend/make-folder.ts": [],
  "backend/config.ts": ["backend/native"],
  "backend/routes": ["backend/http", "backend/services", "backend/deps.ts"],
  "backend/http": ["backend/jobs", "backend/sessions", "backend/native", "backend/config.ts", "backend/file-moves.ts"],
  "backend/services": [
    "backend/sessions",
    "backend/jobs",
    "backend/native",
    "backend/deps.ts",
    "backend/version.ts",
    "backend/file-moves.ts",
    "backend/make-folder.ts",
  ],
  "backend/sessions": ["backend/native", "backend/file-moves.ts"],
  "backend/jobs": ["backend/native"],
  "backend/native": [],
  "backend/window": [], // runs in the browser
  shared: [],
  "cpp/core": [],
  "cpp/spatial": ["cpp/core"],
  "cpp/io": ["cpp/core"],
  "cpp/ops": ["cpp/core", "cpp/spatial"],
  "cpp/binding": ["cpp/core", "cpp/spatial", "cpp/io", "cpp/ops"],
  cuda: ["cpp/core", "cpp/spatial", "cpp/ops"],
};
/** Single upward edges that a decision allows, each with its reason. */
const exceptions = {
  "cpp/io/octree_directory.h": ["cpp/ops/octree"], // implements the op's sink: bytes to files, no policy
  "cpp/io/octree_directory.cpp": ["cpp/ops/octree"],
  // Looks into a file without a service: no session, and nothing of a client's.
  "backend/cli/project/project.ts": ["backend/services/projects/inspect.ts"],
  // Pictures of meshes need the rasterizer's speed, and no endpoint draws. Columns in, one column of pixels out: no session.
  "backend/cli/drawing/mesh-picture.ts": ["backend/native/mesh-picture.ts"],
  // Headers of a thousand files in seconds: no session, and the endpoint that previews a file decodes points too.
  "backend/cli/catalog/headers.ts": ["backend/native/files/readers.ts"],
  // The stand pass of a joined list: tables in, a table out, no session, and no endpoint takes lists of other clouds.
  "backend/cli/batch/stand.ts": ["backend/native/inventory.ts", "backend/native/core"],
  // What the results of a batch depend on: the version and the bytes of the program, before any service runs.
  "backend/cli/batch/program.ts": ["backend/native/core/load.ts", "backend/version.ts"],
  // Presets of scanners are files of the product, and no endpoint serves them.
  "backend/cli/scan/presets.ts": ["backend/native/core/resources.ts"],
};
/** Rooms in the order in which one may use another: a file may import from its own and from those before it. */
const ORDERED_ROOMS = {
  "backend/services": [
    "run",
    "files",
    "octree",
    "cloud",
    "classify",
    "terrain",
    "surfaces",
    "registration",
    "plants",
    "lidar",
    "lad",
    "trees",
    "ml",
    "wood",
    "qsm",
    "fit",
    "models",
    "projects",
  ],
  "backend/cli": [
    "edit-distance.ts",
    "wording.ts",
    "exit-code.ts",
    "progress.ts",
    "drawing",
    "report",
    "meshes",
    "analyze",
    "run",
    "register",
    "distance",
    "mesh",
    "lad",
    "inventory",
    "qsm",
    "skeleton",
    "wood",
    "plant",
    "scan",
    "fit",
    "project",
    "catalog",
    "batch",
    "commands.ts",
  ],
};
/** What a room may not use although its layer may: reading and writing files needs no session. */
const CLOSED = {
  "backend/services/files": {
    to: "backend/sessions",
    except: ["backend/sessions/column-ref.ts", "backend/sessions/column-names.ts"],
  },
};
/** The packages that a layer may import, where not all: what runs in the browser has no Node.js. */
const PACKAGES = { "backend/window": ["three", "zod"] };
/** Who may call HitPoints::assume_hits, each with the reason why its points are hits. */
const assumesHits = {
  "cpp/core/hit_points.h": "defines it",
  "cpp/ops/cloud/select_hits.h": "the points it has just selected",
  "cpp/ops/denoise/tiled_noise.cpp": "a part of the hits that it was given",
  "cpp/ops/trees/tree_tiles.cpp": "a part of the hits that it was given",
  "cpp/ops/trees/layer_stem.cpp": "the points of a tree that it was given",
  "cpp/ops/skeleton/level_set_skeleton.cpp": "the hits that it was given, without the rows to skip",
  "cpp/ops/wood/wood_leaf.cpp": "the hits that it was given, in an order of position",
  "cpp/ops/lad/scanner_view.cpp": "directions of beams, of hits and misses alike",
  "cpp/binding/surfaces.cpp": "points that mesh_points has selected",
  "cpp/binding/scan_meshes.cpp": "points that mesh_points has selected",
};
/** Op families in the order in which one may use another. */
const families = [
  "cloud",
  "octree",
  "fit",
  "misses",
  "mesh",
  "ray",
  "denoise",
  "ground",
  "dem",
  "trees",
  "lad",
  "skeleton",
  "qsm",
  "wood",
  "registration",
  "plant",
];

const layerOf = (file) =>
  Object.keys(below)
    .filter((layer) => file === layer || file.startsWith(`${layer}/`))
    .sort((a, b) => b.length - a.length)[0];
const allowed = (file, from, to, target) =>
  from === to ||
  to === "shared" ||
  below[from].includes(to) ||
  (exceptions[file] ?? []).some((prefix) => target.startsWith(prefix));
const familyOf = (file) => /^(?:cpp|cuda)\/ops\/([^/]+)\//.exec(file)?.[1];

/** Place of a file among the ordered rooms of its layer, null outside of them, -1 in an unknown room. */
function roomOf(file) {
  const layer = Object.keys(ORDERED_ROOMS).find((folder) => file.startsWith(`${folder}/`));
  if (!layer) return null;
  return { layer, place: ORDERED_ROOMS[layer].indexOf(file.slice(layer.length + 1).split("/")[0]) };
}

/** Why a file may not import another one of its own layer; null when it may. */
function roomProblem(file, target) {
  const from = roomOf(file);
  const to = roomOf(target);
  if (from && to && from.layer === to.layer && to.place > from.place)
    return `${file} -> ${target}: a room of ${from.layer} uses only those before it`;
  const [, closed] = Object.entries(CLOSED).find(([room]) => file.startsWith(`${room}/`)) ?? [];
  if (closed && target.startsWith(`${closed.to}/`) && !closed.except.includes(target))
    return `${file} -> ${target}: this room knows no session`;
  return null;
}

const walk = (dir) =>
  existsSync(join(root, dir))
    ? readdirSync(join(root, dir), { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll("\\", "/"))
    : [];

const files = ["backend", "shared", "cpp", "cuda"].flatMap(walk).filter((file) => /\.(ts|h|cpp|cu|cuh)$/.test(file));
const known = new Set(files);
/** Every import, of types too: what cannot be described apart cannot be read apart. */
const graph = new Map();
const problems = [];

function importsOf(file, text) {
  if (file.endsWith(".ts")) {
    return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((m) =>
      normalize(join(dirname(file), m[1])).replaceAll("\\", "/"),
    );
  }
  return [...text.matchAll(/#include "([^"]+)"/g)].flatMap((m) =>
    [`cuda/${m[1]}`, `cpp/${m[1]}`].filter((path) => known.has(path)).slice(0, 1),
  );
}

for (const file of files) {
  const text = readFileSync(join(root, file), "utf8");
  const targets = importsOf(file, text).filter((target) => known.has(target));
  graph.set(file, targets);
  const from = layerOf(file);
  if (!from) problems.push(`${file}: in no layer`);
  if (roomOf(file)?.place === -1) problems.push(`${file}: in no room of ${from}`);
  for (const target of targets) {
    const to = layerOf(target);
    if (from && to && !allowed(file, from, to, target))
      problems.push(`${file} -> ${target}: ${from} may not use ${to}`);
    const crossed = roomProblem(file, target);
    if (crossed) problems.push(crossed);
    if (familyOf(file) && familyOf(target) && families.indexOf(familyOf(target)) > families.indexOf(familyOf(file))) {
      problems.push(`${file} -> ${target}: a family uses only the families above it`);
    }
  }
  if (from !== "cpp/binding" && /<napi\.h>|node_api\.h/.test(text))
    problems.push(`${file}: Node-API outside cpp/binding`);
  if (/\bassume_hits\b/.test(text) !== Object.hasOwn(assumesHits, file)) {
    problems.push(
      Object.hasOwn(assumesHits, file)
        ? `${file}: is listed in assumesHits and does not call assume_hits`
        : `${file}: calls HitPoints::assume_hits; take the points from select_hits, or give the reason in assumesHits`,
    );
  }
  if (/#pragma omp/.test(text) && !file.startsWith("cpp/core/parallel")) problems.push(`${file}: raw #pragma omp`);
  const index = file === "backend/routes/index.ts"; // lists the route files, routes nothing
  if (from === "backend/routes" && !index && targets.some((target) => layerOf(target) === "backend/routes"))
    problems.push(`${file}: a route imports a route`);
  const family = familyOf(file);
  if (family && !families.includes(family)) problems.push(`${file}: unknown op family ${family}`);
}

for (const file of Object.keys(assumesHits).filter((path) => !known.has(path)))
  problems.push(`${file}: is listed in assumesHits and does not exist`);

/** One definition rule: two classes of one name in one namespace are undefined behaviour that no linker reports. */
const classes = new Map();
for (const file of [...files.filter((path) => path.startsWith("cpp/")), ...walk("test/cpp")].filter((path) =>
  /\.(h|cpp)$/.test(path),
)) {
  const text = withoutAnonymousNamespaces(readFileSync(join(root, file), "utf8"));
  for (const match of text.matchAll(/^(?:class|struct|enum class)\s+(\w+)(?!::)\b[^;{]*\{/gm)) {
    const namespace = [...text.slice(0, match.index).matchAll(/^namespace ([\w:]+) \{/gm)].at(-1)?.[1] ?? "";
    const name = `${namespace}::${match[1]}`;
    const other = classes.get(name);
    if (other && other !== file) problems.push(`${name} is defined twice: ${other}, ${file}`);
    classes.set(name, file);
  }
}
if (classes.size < 50) problems.push(`found ${classes.size} C++ classes: is the check still finding anything?`);

function withoutAnonymousNamespaces(text) {
  let out = text;
  for (let match = /^namespace\s*\{/m.exec(out); match; match = /^namespace\s*\{/m.exec(out)) {
    let depth = 1;
    let end = match.index + match[0].length;
    for (; end < out.length && depth > 0; end += 1) depth += out[end] === "{" ? 1 : out[end] === "}" ? -1 : 0;
    out = out.slice(0, match.index) + out.slice(end);
  }
  return out;
}

for (const [layer, packages] of Object.entries(PACKAGES)) {
  for (const file of files.filter((path) => path.startsWith(`${layer}/`) && path.endsWith(".ts"))) {
    for (const [, name] of readFileSync(join(root, file), "utf8").matchAll(
      /(?:^|[}*] )(?:from|import)\s*\(?\s*"([^."][^"]*)"/gm,
    )) {
      if (!packages.some((one) => name === one || name.startsWith(`${one}/`)))
        problems.push(`${file}: ${layer} may not use ${name}`);
    }
  }
}

const state = new Map();
const visit = (file, path) => {
  if (state.get(file) === 2) return;
  if (state.get(file) === 1) {
    problems.push(`cycle: ${[...path.slice(path.indexOf(file)), file].join(" -> ")}`);
    return;
  }
  state.set(file, 1);
  for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
  state.set(file, 2);
};
for (const file of files) visit(file, []);

const edges = [...graph.values()].flat().length;
if (files.length < 100 || edges < 200)
  problems.push(`looked at ${files.length} files and ${edges} edges: is the check still finding anything?`);
console.log(problems.join("\n") || `layers ok: ${files.length} files, ${edges} edges`);
process.exitCode = problems.length ? 1 : 0;
