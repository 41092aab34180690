import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  appSizes,
  asarFiles,
  BUDGET,
  builderConfig,
  desktopEntry,
  identity,
  licenceText,
  mimeTypes,
  overBudget,
  readFuses,
  shippedParts,
  sizeOf,
  writeDeb,
} from "../../support/package/scripts.ts";
import { runtimePackageFolders } from "../../support/process/runtime-packages.ts";
import { folderOfTest } from "../../support/run/folders.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const names = identity();
const packaged = join(root, "build", "package", `${names.name}-${names.version}-linux-${process.arch}`);
const isPackaged = existsSync(join(packaged, "resources", "app.asar"));
if (!isPackaged)
  console.log("packaging test: the packaged app is not looked at, there is none; npm run package makes it");

/** What Electron's security guide asks for, and what this app needs besides (docs/packaging.md). */
const FUSES = {
  runAsNode: true, // networks run in a process of the program's own file
  enableCookieEncryption: false,
  enableNodeOptionsEnvironmentVariable: false,
  enableNodeCliInspectArguments: false,
  enableEmbeddedAsarIntegrityValidation: true,
  onlyLoadAppFromAsar: true,
  loadBrowserProcessSpecificV8Snapshot: false,
  grantFileProtocolExtraPrivileges: false,
};

describe("what is configured", () => {
  test("the desktop package contains exactly the packages that the bundles load", () => {
    const config = readFileSync(`${root}/electron-builder.yml`, "utf8");
    const listed = [...config.matchAll(/^ {2}- "?node_modules\/([^"*\n]+)\/\*\*"?$/gm)].map((match) => match[1]);
    // By name: where npm and the packager put a package (at the top or inside another) is theirs to decide.
    const runtime = listed.filter((path) => path?.startsWith("onnxruntime-"));
    expect(runtime).toEqual([
      "onnxruntime-common",
      "onnxruntime-node/dist",
      `onnxruntime-node/bin/napi-v6/\${platform}/\${arch}`, // one of all platforms
    ]);
    const needed = new Set(runtimePackageFolders(root).map((folder) => folder.split("node_modules/").at(-1)));
    expect(needed.size).toBeGreaterThan(10);
    expect(listed.filter((path) => !runtime.includes(path)).sort()).toEqual([...needed].sort());
  });

  test("fuses, entitlements and their files", () => {
    const { electronFuses, mac } = builderConfig();
    expect(electronFuses).toEqual(FUSES);
    expect(mac.hardenedRuntime).toBe(true);
    expect(readFileSync(join(root, mac.entitlements), "utf8")).toContain("com.apple.security.cs.allow-jit");
  });

  test("the desktop learns of every file that the app opens", () => {
    expect(names.fileTypes.map(({ ext }) => ext)).toEqual(["las", "laz", "e57", "ptx", "ply", "pcd", "proj"]);
    const entry = desktopEntry(names);
    const types = mimeTypes(names);
    for (const { ext, mimeType } of names.fileTypes) {
      expect(entry).toContain(`${mimeType};`);
      expect(types).toContain(`<mime-type type="${mimeType}">`);
      expect(types).toContain(`<glob pattern="*.${ext}"`);
    }
    expect(entry).toContain(`Exec=${names.name} %F`);
  });

  test("icons are those that the script draws", () => {
    const { status, stderr } = spawnSync(process.execPath, ["scripts/draw-icons.mjs", "--check"], { cwd: root });
    expect(String(stderr)).toBe("");
    expect(status).toBe(0);
  });

  test("ours is within its budget before it is packed", () => {
    const bundles = readdirSync(join(root, "dist"), { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile() && !file.name.endsWith(".map"))
      .map((file) => join(file.parentPath, file.name));
    const native = join("build", "native", "Release");
    const runtime = join("node_modules", "onnxruntime-node", "bin", "napi-v6", process.platform, process.arch);
    const parts = ["resources", native, runtime, ...runtimePackageFolders(root)].map((path) => join(root, path));
    const bytes = [...bundles, ...parts.filter((path) => existsSync(path))].reduce(
      (sum, path) => sum + sizeOf(path),
      0,
    );
    expect(bytes).toBeGreaterThan(10e6);
    expect(bytes).toBeLessThan(BUDGET.ours);
  });

  test("a wrong distribution is refused in one sentence", () => {
    const env = { ...process.env, APP_ELECTRON_DIST: "/nowhere" };
    const run = spawnSync(process.execPath, ["scripts/package.mjs"], { cwd: root, env, encoding: "utf8" });
    expect(run.status).toBe(1);
    expect(run.stderr).toBe(
      "APP_ELECTRON_DIST is /nowhere, which is no unpacked Electron: the files electron and version are not there.\n",
    );
  });
});

const hasDpkg = spawnSync("dpkg-deb", ["--version"]).status === 0;
if (!hasDpkg) console.log("packaging test: no deb is written, dpkg-deb is missing");

/** The folders of a deb of an app of empty files. */
function unpackedDeb() {
  const folder = folderOfTest("deb-");
  const [app, target, out] = ["app", "app.deb", "out"].map((name) => join(folder, name)) as [string, string, string];
  mkdirSync(app);
  for (const name of [names.name, "chrome-sandbox", "pc.node", "libvulkan.so.1"])
    writeFileSync(join(app, name), "", { mode: 0o755 });
  writeDeb({ app, target, staging: join(folder, "staging"), identity: names, arch: "x64", time: 1_700_000_000 });
  expect(spawnSync("dpkg-deb", ["-R", target, out]).status).toBe(0);
  return out;
}

describe.skipIf(!hasDpkg)("a deb follows Debian's policy", () => {
  test("the link between top folders is absolute", () => {
    expect(readlinkSync(join(unpackedDeb(), "usr", "bin", names.name))).toBe(`/opt/${names.name}/${names.name}`);
  });

  test("the changelog is in Debian's form", () => {
    const out = unpackedDeb();
    const text = gunzipSync(readFileSync(join(out, "usr/share/doc", names.name, "changelog.gz"))).toString();
    const [title, , change, , signed] = text.split("\n");
    expect(title).toBe(`${names.name} (${names.version}) unstable; urgency=medium`);
    expect(change).toMatch(/^ {2}\* /);
    expect(signed).toMatch(/^ -- .+ <.+@.+> {2}Tue, 14 Nov 2023 22:13:20 \+0000$/);
    expect(existsSync(join(out, "usr/share/doc", names.name, "CHANGELOG.md.gz"))).toBe(true);
  });

  test("libraries are no programs, and lines of the description are short", () => {
    const out = unpackedDeb();
    const mode = (name: string) => statSync(join(out, "opt", names.name, name)).mode & 0o7777;
    expect(mode("pc.node")).toBe(0o644);
    expect(mode("libvulkan.so.1")).toBe(0o644);
    expect(mode(names.name)).toBe(0o755);
    expect(mode("chrome-sandbox")).toBe(0o4755);
    const described = readFileSync(join(out, "DEBIAN", "control"), "utf8").split("\nDescription: ")[1] ?? "";
    expect(Math.max(...described.split("\n").map((line) => line.length))).toBeLessThan(80);
  });
});

describe("the tools that look at a package", () => {
  test("sizes over budget are named", () => {
    expect(overBudget(BUDGET)).toEqual([]);
    expect(overBudget({ unpacked: 420e6, ours: 121e6 })).toEqual([
      "what is ours in it takes 121.0 MB; the budget is 120.0 MB",
    ]);
  });

  test("readFuses reads the bytes behind the mark, and nothing else", () => {
    const folder = folderOfTest("fuses-");
    const program = join(folder, "program");
    const mark = "dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX";
    writeFileSync(program, Buffer.from(`code${mark}\x01\x09010011011more`, "latin1"));
    expect(Object.values(readFuses(program))).toEqual([false, true, false, false, true, true, false, true]);
    writeFileSync(program, "no fuses");
    expect(() => readFuses(program)).toThrow(/no program of Electron/);
    writeFileSync(program, Buffer.from(`${mark}\x02\x08`, "latin1"));
    expect(() => readFuses(program)).toThrow(/version 2/);
  });

  test("asarFiles reads packed and unpacked files", () => {
    const archive = join(folderOfTest("asar-"), "app.asar");
    const files = { a: { files: { "one.txt": { offset: "3", size: 4 } } }, two: { size: 2, unpacked: true } };
    const json = Buffer.from(JSON.stringify({ files }));
    const padded = Math.ceil(json.length / 4) * 4;
    const head = Buffer.alloc(16);
    for (const [i, value] of [4, padded + 8, padded + 4, json.length].entries()) head.writeUInt32LE(value, 4 * i);
    const body = Buffer.concat([json, Buffer.alloc(padded - json.length), Buffer.from("xxxfour")]);
    writeFileSync(archive, Buffer.concat([head, body]));
    mkdirSync(`${archive}.unpacked`);
    writeFileSync(join(`${archive}.unpacked`, "two"), "2!");
    const listed = asarFiles(archive).map(({ path, unpacked, read }) => [path, unpacked, read()]);
    expect(listed).toEqual([
      ["a/one.txt", false, "four"],
      ["two", true, "2!"],
    ]);
  });

  test("a part without a licence stops the package", () => {
    const manifest = (given: object) => ({
      path: "node_modules/fastq/package.json",
      read: () => JSON.stringify({ name: "fastq", ...given }),
    });
    expect(() => shippedParts([manifest({ version: "0.0.0" })], [])).toThrow(/fastq 0.0.0.*package-lock.json/);
    const bundled = JSON.parse(readFileSync(join(root, "build", "bundled-packages.json"), "utf8")) as string[];
    const parts = shippedParts([], bundled);
    expect(parts.length).toBeGreaterThan(50);
    for (const { name, texts } of parts) expect(texts.join("").length, name).toBeGreaterThan(500);
    const text = licenceText(parts, "42");
    for (const part of ["fastify ", "zod ", "Constants of PROSPECT", "DejaVu Sans"]) expect(text).toContain(part);
  });
});

describe.skipIf(!isPackaged)("the packaged app", () => {
  const files = isPackaged ? asarFiles(join(packaged, "resources", "app.asar")) : [];

  test("its program has the fuses of the configuration", () => {
    expect(readFuses(join(packaged, names.name))).toEqual(FUSES);
  });

  test("it holds the app and no files of its making", () => {
    const paths = files.map(({ path }) => path);
    for (const part of [
      "dist/backend/entry/electron-main.js",
      "build/native/Release/pc.node",
      "resources/species/bean.json",
    ])
      expect(paths).toContain(part);
    const wrong =
      /\.(map|ts|tsbuildinfo)$|(^|\/)(tests?|cpp|cuda|scripts|examples?|benchmarks?)\/|vitest|esbuild|playwright/;
    expect(paths.filter((path) => wrong.test(path))).toEqual([]);
    expect(existsSync(join(packaged, "resources", "default_app.asar"))).toBe(false);
    const runtimes = paths.filter((path) => path.includes("/bin/napi-v6/"));
    expect(runtimes.every((path) => path.includes(`/napi-v6/${process.platform}/${process.arch}/`))).toBe(true);
  });

  test("what the system loads lies outside the archive", () => {
    const libraries = files.filter(({ path }) => /\.node$|\.so(\.|$)/.test(path));
    expect(libraries.length).toBeGreaterThan(1);
    expect(libraries.filter(({ unpacked }) => !unpacked)).toEqual([]);
  });

  test("the licences of all its parts are beside it", () => {
    const text = readFileSync(join(packaged, "LICENSES.txt"), "utf8");
    const manifests = files.filter(({ path }) => /^node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path));
    expect(manifests.length).toBeGreaterThan(20);
    for (const { read } of manifests) {
      const { name, version } = JSON.parse(read()) as { name: string; version: string };
      expect(text).toContain(`\n${name} ${version}\n`);
    }
    for (const part of ["Eigen", "fast_float", "libdeflate", "GNU libgomp"]) expect(text).toContain(`\n${part}`);
    expect(existsSync(join(packaged, "LICENSES.chromium.html"))).toBe(true);
  });

  test("it is within the budget", () => {
    expect(overBudget(appSizes(packaged))).toEqual([]);
  });
});
