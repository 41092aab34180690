import { ScanTriangulationFailure, ScanTriangulationSuccess } from "../../../shared/contract/triangulate-lidar.ts";
import { run, type TestApp } from "../app/app.ts";
import { type FrameAnswer, frameOf, type Point } from "./dem.ts";
import { checked } from "./session-edits.ts";

export const LIDAR = "/api/triangulate/lidar";

/** The frame of an angular triangulation that succeeds. */
export const scanMesh = (made: TestApp, payload: object): Promise<FrameAnswer<ScanTriangulationSuccess>> =>
  frameOf(made, LIDAR, payload, ScanTriangulationSuccess);

/** The meta of an angular triangulation that fails in its frame. */
export async function failedScanMesh(made: TestApp, payload: object): Promise<ScanTriangulationFailure> {
  const { outcome } = await run(made, LIDAR, payload);
  if (outcome.kind !== "failed") throw new Error(`it did not fail: ${JSON.stringify(outcome).slice(0, 300)}`);
  return checked(ScanTriangulationFailure, outcome.tail);
}

/** Hits on the wall y = distance, seen from the origin in a square of directions: rows x columns, 1 m x 1 m at 1 m. */
export function wall(distance: number, side = 11): Point[] {
  const step = 1 / (side - 1);
  return Array.from({ length: side * side }, (_, i) => [
    distance * ((i % side) * step - 0.5),
    distance,
    distance * (Math.floor(i / side) * step - 0.5),
  ]);
}
