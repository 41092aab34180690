import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { scanPattern } from "../../../backend/services/lidar/scan-pattern.ts";
import { Scanner } from "../../../shared/contract/lidar.ts";
import { SCANNER_IDS, ScannerPreset } from "../../../shared/contract/scanner-preset.ts";

const folder = fileURLToPath(new URL("../../../resources/scanners", import.meta.url));
const presetOf = (id: string) => ScannerPreset.parse(JSON.parse(readFileSync(`${folder}/${id}.json`, "utf8")));

test("there is one file for each scanner, and no other", () => {
  const found = readdirSync(folder).filter((name) => name.endsWith(".json"));
  expect(found.sort()).toEqual(SCANNER_IDS.map((id) => `${id}.json`).sort());
});

describe.each(SCANNER_IDS)("%s", (id) => {
  test("is named as its file, and its figures have a source", () => {
    const preset = presetOf(id);
    expect(preset.id).toBe(id);
    expect(preset.source.length).toBeGreaterThan(15);
    if (id !== "generic") expect(preset.notes.length).toBeGreaterThan(0);
  });

  test("its fields are those of a scanner that fires pulses", () => {
    const { scanner } = presetOf(id);
    const turn = [0, 1].map((t) => ({ t, x: 0, y: 0, z: 0, qx: 0, qy: 0, qz: 0, qw: 1 }));
    const moving = scanner.scan_pattern === "raster" ? {} : { trajectory: { poses: turn } };
    const counts =
      scanner.scan_pattern === "raster"
        ? { n_theta: Math.round((scanner.theta_max_deg - scanner.theta_min_deg) / scanner.step_deg) + 1, n_phi: 9 }
        : { n_theta: 1, n_phi: scanner.scan_pattern === "spinning_multibeam" ? scanner.columns_per_turn : 1 };
    const angles = { theta_min_deg: 0, theta_max_deg: 180, phi_min_deg: 0, phi_max_deg: 360 };
    const request = Scanner.parse({ id, origin: [0, 0, 0], ...angles, ...scanner, ...counts, ...moving });
    const pattern = scanPattern(request);
    expect(pattern.pulse_count).toBeGreaterThan(1000);
    if (scanner.scan_pattern !== "raster") {
      expect(Math.abs(pattern.pulse_count / scanner.pulse_rate_hz - 1)).toBeLessThan(0.01); // one second of pulses
    }
  });
});
