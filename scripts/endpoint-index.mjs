// Writes docs/endpoints.md from the sources and from what the contract tests recorded (docs/endpoint-calls.json).
// usage: endpoint-index.mjs                  runs the contract tests, records their calls, writes both files
//        endpoint-index.mjs --check          fails when docs/endpoints.md is stale
//        endpoint-index.mjs --check-calls F  fails when the calls recorded in folder F are not those on record
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./fingerprint.mjs";

const target = "docs/endpoints.md";
const CALLS = "docs/endpoint-calls.json";
const read = (path) => readFileSync(join(root, path), "utf8");
const walk = (dir) =>
  readdirSync(join(root, dir), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll("\\", "/"))
    .sort();

const tests = walk("test")
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => [path, read(path)]);

/** Tests that name the endpoint's path, with any id in the place of a parameter, and a method beyond GET and POST. */
function testsOf(path, method) {
  const pattern = new RegExp(
    `${path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/:\w+/g, "[^\"'`\\s]+?")}(?![\\w/-])`,
  );
  return tests
    .filter(([, text]) => (path.length > 1 ? pattern.test(text) : /get\("\/"\)/.test(text)))
    .filter(([, text]) => /GET|POST/.test(method) || text.includes(`"${method}"`))
    .map(([file]) => file);
}

function servicesOf(text) {
  return [...text.matchAll(/from "(?:\.\.\/)+services\/([\w/-]+)\.ts"/g)].map((m) => m[1]);
}

const services = Object.fromEntries(
  walk("backend/services").map((path) => [path.replace(/^backend\/services\/|\.ts$/g, ""), read(path)]),
);

/** What the contract tests recorded: endpoint -> native jobs it started, and whether it asked for admission. */
function readCalls(folder) {
  const calls = {};
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"));
  for (const line of lines) {
    const { endpoint, op, admitted } = JSON.parse(line);
    calls[endpoint] ??= { ops: new Set(), admitted: false };
    if (op) calls[endpoint].ops.add(op);
    if (admitted) calls[endpoint].admitted = true;
  }
  if (lines.length < 100) fail(`recorded ${lines.length} calls: did the contract tests run?`);
  const sorted = Object.entries(calls).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, { ops, admitted }]) => [key, { ops: [...ops].sort(), admitted }]));
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

function recordCalls() {
  const folder = join(root, "build", "endpoint-calls");
  rmSync(folder, { recursive: true, force: true });
  const { status } = spawnSync("npx", ["vitest", "run", "test/contract"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    env: { ...process.env, APP_RECORD_CALLS: folder },
    shell: process.platform === "win32",
  });
  if (status !== 0) fail("the contract tests failed; their calls say nothing");
  return readCalls(folder);
}

const [mode, folder] = process.argv.slice(2);
if (mode === "--check-calls") {
  const seen = JSON.stringify(readCalls(folder));
  if (seen !== JSON.stringify(JSON.parse(read(CALLS)))) fail(`${CALLS} is stale; run "npm run docs"`);
  console.log("endpoint calls ok");
  process.exit(0);
}
if (mode === undefined) writeFileSync(join(root, CALLS), `${JSON.stringify(recordCalls(), null, 2)}\n`);
const calls = JSON.parse(read(CALLS));

/** The source of one route: up to the next one, or to the end of the function that registers them. */
function routeBody(text, start) {
  const ends = ["\n  app.", "\n}"].map((mark) => text.indexOf(mark, start + 1)).filter((at) => at >= 0);
  return text.slice(start, Math.min(...ends, text.length));
}

/** A route's source with that of the file's own functions it calls. */
function withLocals(body, text) {
  const locals = [...text.matchAll(/^(?:async )?function (\w+)[\s\S]*?^}/gm)];
  return [body, ...locals.filter(([, name]) => new RegExp(`\\b${name}\\(`).test(body)).map(([source]) => source)].join(
    "\n",
  );
}

const rows = [];
for (const file of walk("backend/routes")) {
  const text = read(file);
  const used = servicesOf(text);
  for (const match of text.matchAll(
    /app\.(?:(get|post|put|patch|delete)\(\s*"([^"]+)"|route\(\{\s*method: \[?([^\]\n]+?)\]?,\s*url: "([^"]+)")/g,
  )) {
    const method = (match[1] ?? match[3].replaceAll(/["\s]/g, "").replaceAll(",", " ")).toUpperCase(); // one row per route
    const path = match[2] ?? match[4];
    const body = withLocals(routeBody(text, match.index), text);
    // A handler's own functions tell which of the file's services it uses; a file with one endpoint uses all.
    const own = used.filter((name) => exportsOf(name).some((symbol) => new RegExp(`\\b${symbol}\\b`).test(body)));
    const names =
      own.length > 0 ? own : [...text.matchAll(/app\.(get|post|put|patch|delete)\(/g)].length === 1 ? used : [];
    const streamed = /streamJob\(/.test(body)
      ? "PHP1 + JSON"
      : /streamFrameJob\(/.test(body)
        ? "PHP1 + PHB1"
        : /sendPoints|sendFlat/.test(body)
          ? "PHX1"
          : "";
    rows.push({
      method,
      path,
      file,
      names,
      ops: calls[`${method} ${path}`]?.ops ?? [],
      streamed,
      gated: calls[`${method} ${path}`]?.admitted ?? false,
      tests: testsOf(path, method),
    });
  }
}

function exportsOf(name) {
  return [...(services[name] ?? "").matchAll(/export (?:async )?function (\w+)/g)].map((m) => m[1]);
}

if (rows.length < 12) {
  console.error(`found ${rows.length} endpoints: is the index still finding anything?`);
  process.exit(1);
}
const untested = rows.filter(({ tests: files }) => files.length === 0);
const code = (list) => list.map((item) => `\`${item}\``).join(" ");
const text = [
  "# Endpoints",
  "",
  "Generated by `npm run docs`; the tests fail when it is stale. Native jobs and admission were recorded while the",
  "contract tests ran.",
  "",
  "| method | path | route file | services | native jobs | answer | admission | tests |",
  "|---|---|---|---|---|---|---|---|",
  ...rows
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
    .map(
      ({ method, path, file, names, ops, streamed, gated, tests: files }) =>
        `| ${method} | \`${path}\` | \`${file}\` | ${code(names)} | ${code(ops)} | ${streamed || "plain"} | ${gated ? "gated" : ""} | ${code(files.map((f) => f.replace(/^test\//, "")))} |`,
    ),
  "",
].join("\n");

if (mode === "--check") {
  const current = existsSync(join(root, target)) ? read(target) : "";
  const problems = [];
  if (current !== text) problems.push(`${target} is stale; run "npm run docs"`);
  for (const { method, path } of untested) problems.push(`${method} ${path} has no test that names it`);
  console.log(problems.join("\n") || `endpoint index ok: ${rows.length} endpoints`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} else {
  writeFileSync(join(root, target), text);
  console.log(`${target}: ${rows.length} endpoints`);
}
