import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test, vi } from "vitest";
import * as fileMoves from "../../backend/file-moves.ts";
import { Job } from "../../backend/jobs/job.ts";
import { installPackage, sweepModels } from "../../backend/services/ml/install.ts";
import { NETWORK_LIMITS, type NetworkLimits, NetworkProcess, NO_RUNTIME } from "../../backend/services/ml/network.ts";
import { readPackage } from "../../backend/services/ml/package.ts";
import { PROBE_MODEL } from "../../backend/services/ml/probe-model.ts";
import { generatedCrop } from "../../backend/services/ml/trial.ts";
import { ModelPackage } from "../../shared/contract/ml.ts";
import { MIB } from "../../shared/limits.ts";
import { FLOAT, INT64, joined, type ModelText, number, onnx, part, tensor, text } from "../support/ml/onnx-bytes.ts";
import { FEATURES, HEIGHT_NETWORK, modelJson, perceptron, writePackage } from "../support/ml/packages.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { stopwatch, within } from "../support/run/stopwatch.ts";

const MODEL = ModelPackage.parse(modelJson());
const LARGE = generatedCrop(MODEL, 60_000).filter(({ name }) => name === "features");
/** A network of `layers` layers that takes seconds on LARGE. */
const SLOW = onnx(perceptron(3, 2048));

async function started(
  network: Uint8Array,
  limits: Partial<NetworkLimits> = {},
  signal = new AbortController().signal,
) {
  const process_ = new NetworkProcess(signal, { ...NETWORK_LIMITS, ...limits });
  await process_.load(network, "cpu", 1);
  return process_;
}
const runs = (pid: number | undefined): boolean => {
  try {
    process.kill(pid ?? 0, 0);
    return true;
  } catch {
    return false;
  }
};
const soon = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
async function gone(pid: number | undefined, withinMs: number): Promise<boolean> {
  for (const end = performance.now() + withinMs; performance.now() < end; await soon(10)) if (!runs(pid)) return true;
  return !runs(pid);
}

test("a process that is killed is an error of the call, and of every later one", async () => {
  const network = await started(SLOW);
  const running = network.run(LARGE);
  setTimeout(() => process.kill(network.pid ?? 0, "SIGSEGV"), 200);
  const error = {
    code: "internal",
    message: expect.stringMatching(/the process that runs the network ended early \(SIGSEGV\)/),
  };
  await expect(running).rejects.toMatchObject(error);
  await expect(network.run(LARGE)).rejects.toMatchObject(error);
  await network.close();
});

test("an abort kills the process within 250 ms", async () => {
  const abort = new AbortController();
  const network = await started(SLOW, {}, abort.signal);
  const running = network.run(LARGE);
  await soon(200);
  const stop = stopwatch(network.pid);
  abort.abort();
  await expect(running).rejects.toMatchObject({ code: "canceled" });
  expect(stop().own_ms).toBeLessThan(250);
  await within(250, () => expect(runs(network.pid)).toBe(false));
});

test("a network that needs too much memory, when it loads or when it runs, ends with that reason", async () => {
  const limits = { max_bytes: 400 * MIB };
  const network = await started(SLOW, limits);
  await expect(network.run(LARGE)).rejects.toMatchObject({
    message: expect.stringContaining("more than 400 MiB of memory"),
  });
  await network.close();
  const value = joined(
    text(1, "value"),
    part(5, number(1, 1), number(2, FLOAT), part(9, new Uint8Array(4))),
    number(20, 4),
  );
  const huge: ModelText = {
    ...HEIGHT_NETWORK,
    tensors: [tensor("w", [3, 2], [1, 1, 1, 1, 1, 1]), tensor("s", [2], [40_000, 40_000], INT64)],
    nodes: [
      { op: "ConstantOfShape", in: ["s"], out: ["z"], attributes: [value] },
      { op: "ReduceSum", in: ["z"], out: ["t"] },
      { op: "Add", in: ["features", "t"], out: ["u"] },
      { op: "MatMul", in: ["u", "w"], out: ["logits"] },
    ],
  };
  const attempt = async () => {
    const opened = await started(onnx(huge), limits);
    await opened.run(LARGE).finally(() => opened.close());
  };
  await expect(attempt()).rejects.toMatchObject({
    message: expect.stringMatching(/more than 400 MiB of memory|allocate/),
  });
});

test("a network that takes too long is ended", async () => {
  const network = await started(SLOW, { crop_ms: 300 });
  const stop = stopwatch(network.pid);
  await expect(network.run(LARGE)).rejects.toMatchObject({
    message: expect.stringContaining("did not answer within 0.3 s"),
  });
  expect(stop().own_ms).toBeLessThan(1000);
  await network.close();
  expect(runs(network.pid)).toBe(false);
});

test("the process ends with its parent, also while a network runs and when the parent is killed", async () => {
  const folder = folderOfTest("ml-orphan-");
  writeFileSync(join(folder, "slow.onnx"), SLOW);
  const source = (path: string) => pathToFileURL(join(import.meta.dirname, "../..", path)).href;
  writeFileSync(
    join(folder, "parent.mjs"),
    `import { readFileSync } from "node:fs";
     import { NetworkProcess } from "${source("backend/services/ml/network.ts")}";
     const network = new NetworkProcess(new AbortController().signal);
     await network.load(readFileSync(process.argv[2]), "cpu", 1);
     const data = new Float32Array(180_000).buffer;
     const run = network.run([{ name: "features", type: "float32", dims: [60_000, 3], data }]);
     process.stdout.write(network.pid + "\\n");
     await run;
     await new Promise((resolve) => setTimeout(resolve, 60_000));`,
  );
  const args = ["--import", import.meta.resolve("tsx"), join(folder, "parent.mjs"), join(folder, "slow.onnx")];
  const parent = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const pid = Number(await new Promise<Buffer>((resolve) => parent.stdout.once("data", resolve)));
  await soon(200);
  expect(runs(pid)).toBe(true);
  const stop = stopwatch(pid);
  parent.kill("SIGKILL");
  expect(await gone(pid, 60_000)).toBe(true); // guards against a test that hangs
  expect(stop().own_ms).toBeLessThan(2000);
});

test("an import that was killed leaves nothing: what was not installed goes, what was moved away comes back", async () => {
  const root = folderOfTest("ml-sweep-");
  const [id, dead] = ["0".repeat(12), "999999999-1"];
  writePackage(join(root, `.new-${dead}-${id}-fresh`), modelJson({ id: "fresh" }));
  writePackage(join(root, `.old-${dead}-${id}-moved`), modelJson({ id: "moved" }));
  writePackage(join(root, `.old-${dead}-${id}-replaced`), modelJson({ id: "replaced" }));
  writePackage(join(root, "replaced"), modelJson({ id: "replaced" }));
  mkdirSync(join(root, `.old-${dead}-${id}-torn`));
  mkdirSync(join(root, `.new-${process.pid}--${id}-mine`));
  mkdirSync(join(root, ".other"));
  const logger = { info: () => undefined, warn: () => undefined } as never;
  await sweepModels({ config: { mlModelsDir: root } as never, logger });
  expect(readdirSync(root).sort()).toEqual([`.new-${process.pid}--${id}-mine`, ".other", "moved", "replaced"]);
});

test("an import whose last rename fails has put the replaced model back by the time it says so", async () => {
  const folder = folderOfTest("ml-refused-");
  const user = join(folder, "user");
  writePackage(join(user, "tiny"), modelJson({ name: "Old" }));
  const next = await readPackage(writePackage(join(folder, "next"), modelJson({ name: "New" })));
  const { rename } = fileMoves;
  const renamed = vi.spyOn(fileMoves, "rename").mockImplementation(async (from, to) => {
    if (basename(from).startsWith(".new-")) throw Object.assign(new Error("rename: no space"), { code: "ENOSPC" });
    await rename(from, to);
  });
  await expect(installPackage(next, user, new Job())).rejects.toMatchObject({ code: "ENOSPC" });
  renamed.mockRestore();
  expect(readdirSync(user)).toEqual(["tiny"]);
  expect((await readPackage(join(user, "tiny"))).model.name).toBe("Old");
  await installPackage(next, user, new Job());
  expect(readdirSync(user)).toEqual(["tiny"]);
  expect((await readPackage(join(user, "tiny"))).model.name).toBe("New");
});

test("an import killed at any moment leaves the old model or the new one, whole", async () => {
  const folder = folderOfTest("ml-killed-");
  const user = join(folder, "user");
  const [first, second] = ["First", "Second"].map((name) =>
    writePackage(join(folder, name), modelJson({ name, description: "x".repeat(2000) }), HEIGHT_NETWORK),
  );
  const source = (path: string) => pathToFileURL(join(import.meta.dirname, "../..", path)).href;
  // The network has been tried by then: what is left of an import is the files. They change places without a pause.
  writeFileSync(
    join(folder, "parent.mjs"),
    `import { Job } from "${source("backend/jobs/job.ts")}";
     import { installPackage } from "${source("backend/services/ml/install.ts")}";
     import { readPackage } from "${source("backend/services/ml/package.ts")}";
     const [user, ...paths] = process.argv.slice(2);
     const packages = await Promise.all(paths.map((path) => readPackage(path)));
     for (let k = 0; ; k += 1) {
       await installPackage(packages[k % 2], user, new Job());
       if (k === 0) process.stdout.write("ready\\n");
     }`,
  );
  const logger = { info: () => undefined, warn: () => undefined } as never;
  const args = ["--import", import.meta.resolve("tsx"), join(folder, "parent.mjs"), user, first ?? "", second ?? ""];
  const left = new Set<string>();
  for (const wait of [2, 9]) {
    const parent = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => parent.stdout.once("data", resolve));
    await soon(wait);
    parent.kill("SIGKILL");
    await new Promise((resolve) => parent.once("close", resolve));
    for (const name of readdirSync(user)) if (name.startsWith(".")) left.add(name.slice(0, 4));
    await sweepModels({ config: { mlModelsDir: user } as never, logger });
    expect(readdirSync(user)).toEqual(["tiny"]);
    expect(["First", "Second"]).toContain((await readPackage(join(user, "tiny"))).model.name);
  }
  expect([...left].every((name) => name === ".new" || name === ".old")).toBe(true);
});

test("the network of the probe is what the tests' writer writes", () => {
  const probe: ModelText = {
    inputs: [{ ...FEATURES, dims: ["n", 1] }],
    outputs: [{ name: "logits", dims: ["n", 1] }],
    nodes: [{ op: "Identity", in: ["features"], out: ["logits"] }],
  };
  expect(PROBE_MODEL.length).toBeLessThan(onnx(probe).length + 40);
  expect(Buffer.from(PROBE_MODEL).includes("Identity")).toBe(true);
});

test("no process is left behind", () => {
  const own = execFileSync("ps", ["-eo", "ppid,args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes("compute-worker") && Number(line.trim().split(" ")[0]) === process.pid);
  expect(own).toEqual([]);
});

test("without the optional package the answer says what is missing", async () => {
  const copy = folderOfTest("ml-without-");
  cpSync(join(import.meta.dirname, "../../dist/backend/entry"), copy, { recursive: true });
  writeFileSync(join(copy, "package.json"), '{"type": "module"}');
  const network = new NetworkProcess(new AbortController().signal, NETWORK_LIMITS, join(copy, "compute-worker.js"));
  await expect(network.probe("auto")).rejects.toMatchObject({ code: "unsupported", message: NO_RUNTIME });
  await network.close();
});
