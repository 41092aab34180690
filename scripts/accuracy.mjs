// `npm run accuracy -- dem`
// `npm run accuracy -- denoise [--json] [--method ror,voxel_count,sor,auto] [--group plot,tls,als]`
// `npm run accuracy -- ground [--json] [--method auto,smrf,cloth,derived] [--group isprs,als,tls,relief]`
// Measures results against clouds with known answers and prints tables; docs/accuracy.md keeps a dated copy.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { register } from "tsx/esm/api";
import { root } from "./fingerprint.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, method: { type: "string" }, group: { type: "string" } },
});
const [part] = positionals;
if (positionals.length !== 1 || !["ground", "dem", "denoise"].includes(part)) {
  console.error("usage: npm run accuracy -- ground|denoise [--json] [--method NAME,..] [--group NAME,..] | dem");
  process.exit(2);
}
const built = spawnSync(process.execPath, ["scripts/build-native.mjs"], { cwd: root, stdio: ["ignore", 2, 2] });
if (built.status !== 0) process.exit(1);
if (part === "dem") {
  register();
  await (await import("../test/accuracy/dem.mjs")).run();
  process.exit(0);
}

async function measures() {
  if (part === "denoise") {
    register();
    const own = await import("../test/accuracy/denoise.mjs");
    const { denoiseAccuracy, denoiseTables, denoiseTargets, methods, groups } = own;
    return { accuracy: denoiseAccuracy, tables: denoiseTables, targets: denoiseTargets, methods, groups };
  }
  const { groundAccuracy, groundTables, groundTargets, methods } = await import("../test/accuracy/ground.mjs");
  const { groups } = await import("../test/accuracy/ground-data.mjs");
  return {
    accuracy: groundAccuracy,
    tables: groundTables,
    targets: groundTargets,
    methods: Object.keys(methods),
    groups,
  };
}

const { accuracy, tables, targets, methods, groups } = await measures();
const list = (text, known, what) => {
  const names = text?.split(",");
  const odd = names?.find((name) => !known.includes(name));
  if (odd !== undefined) {
    console.error(`unknown ${what} ${odd}; one of ${known.join(", ")}`);
    process.exit(2);
  }
  return names;
};
const rows = await accuracy({
  method: list(values.method, methods, "method"),
  group: list(values.group, groups, "group"),
});
if (rows.length === 0) {
  console.error("no cloud was measured");
  process.exit(1);
}
if (values.json) {
  console.log(JSON.stringify(rows));
} else {
  const commit = spawnSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" }).stdout.trim();
  console.log(`${new Date().toISOString().slice(0, 10)}, commit ${commit}\n\n${tables(rows)}`);
  if (values.method === undefined && values.group === undefined) console.log(targets(rows));
}
