import { LidarScanFailure, LidarScanSuccess } from "../../../shared/contract/lidar-frame.ts";
import { encodeFrame, type FrameArray } from "../../../shared/wire/phb1.ts";
import { run, type TestApp } from "../app/app.ts";
import { readRun } from "../app/run-body.ts";
import { type FrameAnswer, frameOf } from "./dem.ts";
import { checked } from "./session-edits.ts";

export const LIDAR_SCAN = "/api/lidar/scan";

type Triple = [number, number, number];
export interface ScanMeshFields extends Record<string, unknown> {
  vertices: Triple[];
  triangles: Triple[];
}

/** A square of 2 half by 2 half metres across +y. */
export const wall = (y: number, half: number): ScanMeshFields => ({
  vertices: [
    [-half, y, -half],
    [half, y, -half],
    [half, y, half],
    [-half, y, half],
  ],
  triangles: [
    [0, 1, 2],
    [0, 2, 3],
  ],
});

/** 81 pulses towards +y, 10 degrees to either side. */
export const SCANNER = {
  id: "front",
  origin: [0, 0, 0] as Triple,
  n_theta: 9,
  n_phi: 9,
  theta_min_deg: 80,
  theta_max_deg: 100,
  phi_min_deg: -10,
  phi_max_deg: 10,
};

/** Two poses at the origin, `seconds` apart. */
export const standing = (seconds: number) => ({
  poses: [0, seconds].map((t) => ({ t, x: 0, y: 0, z: 0, qx: 0, qy: 0, qz: 0, qw: 1 })),
});

/** The frame of a scan that succeeds. */
export const lidarScanned = (made: TestApp, payload: object): Promise<FrameAnswer<LidarScanSuccess>> =>
  frameOf(made, LIDAR_SCAN, payload, LidarScanSuccess);

/** The meta of a scan that fails in its frame. */
export async function failedScan(made: TestApp, payload: object): Promise<LidarScanFailure> {
  const { outcome } = await run(made, LIDAR_SCAN, payload);
  if (outcome.kind !== "failed") throw new Error(`it did not fail: ${JSON.stringify(outcome).slice(0, 300)}`);
  return checked(LidarScanFailure, outcome.tail);
}

/** The outcome of a scan whose request is a PHB1 frame. */
export async function scanOfFrame({ app }: TestApp, request: object, buffers: Readonly<Record<string, FrameArray>>) {
  const answer = await app.inject({
    method: "POST",
    url: LIDAR_SCAN,
    headers: { "content-type": "application/octet-stream" },
    payload: Buffer.from(encodeFrame({ request }, buffers)),
  });
  if (answer.statusCode !== 200) return { status: answer.statusCode, body: answer.body };
  return { status: 200, ...readRun(answer.rawPayload) };
}
