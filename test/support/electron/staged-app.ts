import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { runtimePackageFolders } from "../process/runtime-packages.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** A built app in a folder that another user can read, as an installed one is. */
export interface StagedApp {
  readonly folder: string;
  /** Main process that drives the supervisor library, see driver.ts. */
  readonly driver: string;
  /** The product's own main process. */
  readonly main: string;
  /** The backend's utility process. */
  readonly backend: string;
  /** Writable for everyone. */
  readonly work: string;
  remove(): Promise<void>;
}

/** The optional runtime of networks, for this platform. */
const RUNTIME = join("node_modules", "onnxruntime-node");
const NETWORK_RUNTIME = [
  join("node_modules", "onnxruntime-common"),
  join(RUNTIME, "package.json"),
  join(RUNTIME, "dist"),
  join(RUNTIME, "bin", "napi-v6", process.platform, process.arch),
];

/** Copies the build into a temporary folder, with the packages it needs. Errors: a missing build says how to make it. */
export async function stageApp(): Promise<StagedApp> {
  const folder = await mkdtemp(join(tmpdir(), "electron-app-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const native = join("build", "native", "Release");
    for (const part of ["dist", join(native, "pc.node")]) {
      await cp(join(root, part), join(folder, part), { recursive: true }).catch((cause: unknown) => {
        throw new Error(`${part} cannot be copied; run "npm run build" first`, { cause });
      });
    }
    for (const name of await readdir(join(root, native))) {
      if (/\.so(\.|$)/.test(name))
        await cp(join(root, native, name), join(folder, native, name), { dereference: true });
    }
    await cp(join(root, "package.json"), join(folder, "package.json"));
    for (const path of [
      ...runtimePackageFolders(root),
      ...NETWORK_RUNTIME.filter((part) => existsSync(join(root, part))),
    ]) {
      await cp(join(root, path), join(folder, path), { recursive: true });
    }
    const driver = join(folder, "driver.js");
    await bundleDriver(driver);
    await cp(join(folder, "dist", "backend", "entry", "preload.cjs"), join(folder, "preload.cjs"));
    await openTo(folder);
    const work = join(folder, "work");
    await mkdir(work);
    await chmod(work, 0o777);
    const entry = join(folder, "dist", "backend", "entry");
    const [main, backend] = [join(entry, "electron-main.js"), join(entry, "utility-process.js")];
    return { folder, driver, main, backend, work, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function bundleDriver(outfile: string): Promise<void> {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  await build({
    entryPoints: [fileURLToPath(new URL("./driver.ts", import.meta.url))],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: ["electron"],
    define: { "process.env.APP_BUILD_VERSION": JSON.stringify(version) },
    logLevel: "warning",
  });
}

/** Lets every user read the tree. */
async function openTo(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openTo(path);
    else if (entry.isFile()) await chmod(path, 0o644);
  }
}
