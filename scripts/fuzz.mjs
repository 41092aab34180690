// `npm run fuzz [-- <reader|sessions|documents|projects|trees|surfaces|models|all> [count] [seed]]`: mutated files against
// every reader under the sanitizers, random edits of sessions against their model, mutated structure documents of plants
// through the endpoint, damaged project files and killed saves and opens, hostile clouds and parameters for every op on trees
// and on surfaces, damaged packages of networks.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { dropMovedCache } from "./cmake-cache.mjs";
import { root } from "./fingerprint.mjs";

const SESSION_TESTS = [
  "test/property/session-model.test.ts",
  "test/integration/session-crash.test.ts",
  "test/integration/session-damage.test.ts",
];
const DOCUMENT_TESTS = ["test/property/plant-documents.test.ts"];
const PROJECT_TESTS = [
  "test/integration/project-damage.test.ts",
  "test/property/project-model.test.ts",
  "test/fault/project-kill.test.ts",
  "test/fault/project-disk.test.ts",
];
const SEQUENCES = "20000";
const DOCUMENTS = "20000";
const CORRUPTIONS = "3000";
const KILLS = "500";
/** Clouds for each op on trees. */
const TREE_CLOUDS = "10000";
/** Clouds or meshes for each op on surfaces. */
const SURFACE_CLOUDS = "10000";
/** Packages of networks. */
const PACKAGES = "5000";
/** Flipped bytes of a project. */
const FLIPS = "10000";

const [target = "all", count, ...rest] = process.argv.slice(2);
const asan = join(root, "build", "asan");
const run = (command, args, options) =>
  spawnSync(command, args, { stdio: "inherit", cwd: root, ...options }).status ?? 1;

function built(program) {
  const configure = [
    "-S",
    root,
    "-B",
    asan,
    "-DPC_ADDON=OFF",
    "-DPC_CUDA=OFF",
    "-DPC_TESTS=ON",
    "-DPC_SANITIZE=ON",
    "-DCMAKE_BUILD_TYPE=Sanitize",
    "-DCMAKE_CXX_FLAGS_SANITIZE=-O1",
  ];
  dropMovedCache(asan);
  return run("cmake", configure) === 0 && run("cmake", ["--build", asan, "--target", program]) === 0;
}

/** Passive: threads of small loops would spin at each barrier for as long as the other thread waits for a core. */
const sanitized = { ...process.env, ASAN_OPTIONS: "allocator_may_return_null=1", OMP_WAIT_POLICY: "passive" };

function fuzzReaders() {
  if (!built("pc_fuzz")) return 1;
  return run(join(asan, "pc_fuzz"), [target, count ?? "100000", ...rest], { cwd: asan, env: sanitized });
}

/** Their tests with more clouds; the clouds are functions of their number. */
function fuzzTrees() {
  if (!built("pc_tests")) return 1;
  const filter = [
    "PathTrees.RandomClouds*",
    "CutPursuitTrees.HostileClouds*",
    "CanopyCrowns.OddClouds*",
    "StemDetection.RandomClouds*",
    "FusionWarning.RandomClouds*",
    "TreeInventory.AnyCloud*",
    "TiledTrees.HostileClouds*",
    "TreeDecimation.HostileClouds*",
  ];
  const clouds = (target === "trees" ? count : undefined) ?? TREE_CLOUDS;
  const env = { ...sanitized, PC_FUZZ_CLOUDS: clouds };
  return run(join(asan, "pc_tests"), [`--gtest_filter=${filter.join(":")}`], { cwd: asan, env });
}

/** Clouds and meshes of any shape for every op on surfaces; likewise functions of their number. */
function fuzzSurfaces() {
  if (!built("pc_tests")) return 1;
  const filter = [
    "HostileSurfaces.*",
    "Poisson.NastyClouds*",
    "BallPivoting.NastyClouds*",
    "AlphaShape.TakesNastyClouds*",
    "DelaunayTetrahedra.*NastyClouds",
    "DivideDelaunay.*NastyClouds",
  ];
  const clouds = (target === "surfaces" ? count : undefined) ?? SURFACE_CLOUDS;
  const env = { ...sanitized, PC_FUZZ_CLOUDS: clouds };
  return run(join(asan, "pc_tests"), [`--gtest_filter=${filter.join(":")}`], { cwd: asan, env });
}

/** A count of its own makes the sequences and, at the same rate, the kills. */
function fuzzSessions() {
  const [seed] = rest;
  const wanted = target === "sessions" ? count : undefined;
  return vitest(SESSION_TESTS, {
    APP_TEST_SEQUENCES: wanted ?? SEQUENCES,
    APP_TEST_KILLS: wanted ? `${Math.ceil((Number(wanted) * Number(KILLS)) / Number(SEQUENCES))}` : KILLS,
    APP_TEST_CORRUPTIONS: CORRUPTIONS,
    ...(seed && { APP_TEST_SEED: seed }),
  });
}

/** Under the service as it is, without sanitizers; the reader of documents has a target of its own (`plant`). */
function fuzzDocuments() {
  const [seed] = rest;
  const wanted = target === "documents" ? count : undefined;
  return vitest(DOCUMENT_TESTS, {
    APP_TEST_DOCUMENTS: wanted ?? DOCUMENTS,
    ...(seed && { APP_TEST_SEED: seed }),
  });
}

/** A count of its own makes the flipped bytes and, at the same rate, the killed saves and the sequences of edits. */
function fuzzProjects() {
  const [seed] = rest;
  const flips = (target === "projects" ? count : undefined) ?? FLIPS;
  const share = `${Math.ceil(Number(flips) / 50)}`;
  return vitest(PROJECT_TESTS, {
    APP_TEST_PROJECT_BYTES: "all",
    APP_TEST_PROJECT_FLIPS: flips,
    APP_TEST_PROJECT_SEQUENCES: share,
    APP_TEST_SAVE_KILLS: share,
    APP_TEST_SAVE_FILLS: share,
    ...(seed && { APP_TEST_SEED: seed }),
  });
}

/** Packages of networks: most are refused by their form, some run in a process of their own. */
function fuzzModels() {
  const [seed] = rest;
  const wanted = target === "models" ? count : undefined;
  return vitest(["test/property/model-packages.test.ts"], {
    APP_TEST_PACKAGES: wanted ?? PACKAGES,
    ...(seed && { APP_TEST_SEED: seed }),
  });
}

function vitest(tests, settings) {
  const program = join(root, "node_modules", "vitest", "vitest.mjs");
  return run(process.execPath, [program, "run", ...tests], { env: { ...process.env, ...settings } });
}

const PARTS = {
  sessions: [fuzzSessions],
  documents: [fuzzDocuments],
  projects: [fuzzProjects],
  trees: [fuzzTrees],
  surfaces: [fuzzSurfaces],
  models: [fuzzModels],
  all: [fuzzReaders, fuzzSessions, fuzzDocuments, fuzzProjects, fuzzTrees, fuzzSurfaces, fuzzModels],
};
const parts = PARTS[target] ?? [fuzzReaders];
process.exitCode = parts.map((part) => part()).find((status) => status !== 0) ?? 0;
