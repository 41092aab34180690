import type { ScannedCloud } from "../../../shared/contract/lidar-frame.ts";
import type { ScannerPreset } from "../../../shared/contract/scanner-preset.ts";
import { AppError } from "../../../shared/errors.ts";
import { DEFAULT_RAYS_PER_PULSE } from "../../../shared/limits.ts";
import { scalarNames, WITH_COLUMNS } from "../analyze/cloud-copy.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { describeVersions } from "../analyze/record.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { Stopwatch } from "../analyze/stopwatch.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import type { Fact } from "../report/summary.ts";
import { terminalTable } from "../report/terminal.ts";
import { type FolderRun, runInFolder, SUMMARY_FILE, shown } from "../run/folder-run.ts";
import { reportedWarnings } from "../wording.ts";
import { type ScannedObject, scannedObject } from "./object.ts";
import type { ScanOptions } from "./options.ts";
import { type ScannerRequest, scannersAround } from "./positions.ts";
import { scannerPreset } from "./presets.ts";

interface WrittenScan {
  readonly file: string | null;
  readonly origin: readonly number[];
  readonly pulse_limits: object;
  readonly hit_count: number;
  readonly miss_count: number;
  readonly warnings: readonly string[];
}

/**
 * Scans a mesh or a plant and writes a cloud per scanner position and a summary, all of them or, after a cancel or
 * failure, none. Errors: those of the options, the files and the client.
 */
export async function scan(object: string, options: ScanOptions, deps: AnalyzeDeps): Promise<void> {
  const preset = await scannerPreset(options.scanner);
  const names = Array.from({ length: options.positions }, (_, k) => nameOf(k, options));
  const open = await scannedObject(object, options, [...names, SUMMARY_FILE]);
  await runInFolder({ ...options, guarded: SUMMARY_FILE }, deps, async (run) => {
    const clock = new Stopwatch();
    const target = await open(run);
    clock.lap("read");
    const scanners = scannersAround(target.box, preset, options);
    const rays = raysOf(preset, options);
    run.progress.stage("Scanning");
    const { meta } = await run.client.lidarScan(
      {
        meshes: target.meshes,
        scanners,
        rays_per_pulse: rays,
        seed: options.seed,
        record_misses: options.misses,
        extra_fields: options.plant ? ["organ"] : [],
      },
      shown(run),
    );
    clock.lap("scan");
    const written: WrittenScan[] = [];
    for (const [k, cloud] of meta.scanners.entries()) {
      run.progress.stage(`Writing cloud ${k + 1} of ${meta.scanners.length}`);
      written.push(await writeCloud(cloud, scanners[k] as ScannerRequest, names[k] as string, options, run));
    }
    if (written.every(({ file }) => file === null))
      throw new AppError(
        "invalid_argument",
        `no pulse hit the object, which measures ${sizeOf(target)}; use a smaller --step or --distance, and convert a mesh that is not in metres`,
      );
    clock.lap("write");
    const document = {
      object: { name: target.name, triangle_count: target.triangle_count, box: target.box },
      scanner: { id: preset.id, name: preset.name, source: preset.source, notes: preset.notes },
      scans: written,
      parameters: { ...options, rays },
      outputs: { summary: run.out.final(SUMMARY_FILE), clouds: written.flatMap(({ file }) => file ?? []) },
      warnings: reportedWarnings([
        ...target.warnings,
        ...doubtfulSize(target),
        ...(meta.warnings ?? []),
        ...new Set(written.flatMap(({ warnings }) => warnings)),
      ]),
      versions: await describeVersions(run.client, run.signal),
      seconds: clock.seconds(),
    };
    await run.out.write(SUMMARY_FILE, Buffer.from(jsonDocument(document)));
    const facts = scanFacts(target, preset, written);
    deps.stdout.write(options.json ? jsonDocument(document) : terminalTable(facts, document.warnings));
  });
}

const nameOf = (k: number, { format }: ScanOptions) => `scan_${k + 1}.${format}`;

function raysOf({ scanner }: ScannerPreset, { rays }: ScanOptions): number {
  const hasWidth = scanner.beam_divergence_mrad > 0 || scanner.exit_diameter_m > 0;
  return rays ?? (hasWidth ? DEFAULT_RAYS_PER_PULSE : 1);
}

async function writeCloud(
  { num_points, session }: ScannedCloud,
  scanner: ScannerRequest,
  name: string,
  { format }: ScanOptions,
  run: FolderRun,
): Promise<WrittenScan> {
  const { n_theta, n_phi, theta_min_deg, theta_max_deg, phi_min_deg, phi_max_deg } = scanner;
  const common = {
    origin: scanner.origin,
    pulse_limits:
      scanner.scan_pattern === "raster"
        ? { n_theta, n_phi, theta_min_deg, theta_max_deg, phi_min_deg, phi_max_deg }
        : { trajectory: scanner.trajectory },
    hit_count: num_points,
    miss_count: session?.miss_count ?? 0,
  };
  if (!session) {
    if (num_points > 0) throw new AppError("io", "the service could not keep a scan, so it cannot be written");
    return { file: null, ...common, warnings: [] };
  }
  const columns = WITH_COLUMNS.has(format) ? scalarNames({ attributes: session.attributes ?? [] }) : null;
  const source = { session_id: session.session_id };
  const done = await run.client.exportCloud({ source, format, dest_path: run.out.stage(name), columns }, shown(run));
  return { file: run.out.final(name), ...common, warnings: done.warnings ?? [] };
}

const extents = ({ box }: ScannedObject) => box.max.map((high, axis) => high - (box.min[axis] ?? high));
const sizeOf = (target: ScannedObject) =>
  `${extents(target)
    .map((size) => shortNumber(Number(size.toPrecision(3))))
    .join(" x ")} m`;

/** Trees, plants and houses lie between; mesh files do not state their unit. */
const [LEAST_SIZE_M, MOST_SIZE_M] = [0.005, 200];

function doubtfulSize(target: ScannedObject): string[] {
  const largest = Math.max(...extents(target));
  if (largest >= LEAST_SIZE_M && largest <= MOST_SIZE_M) return [];
  return [
    `The object measures ${sizeOf(target)}: a mesh whose coordinates are not metres must be converted first, since ranges, beam widths and noise are in metres.`,
  ];
}

function scanFacts(target: ScannedObject, preset: ScannerPreset, scans: readonly WrittenScan[]): Fact[] {
  return [
    ["Object", `${target.name} (${plainNumber(target.triangle_count, 0)} triangles)`],
    ["Size x, y, z", sizeOf(target)],
    ["Scanner", preset.name],
    ...scans.map(({ origin, hit_count, file }, k): Fact => {
      const place = origin.map((value) => shortNumber(Number(value.toPrecision(5)))).join(", ");
      return [`Scan ${k + 1}`, `${plainNumber(hit_count, 0)} points from (${place}) m${file ? `, ${file}` : ""}`];
    }),
  ];
}
