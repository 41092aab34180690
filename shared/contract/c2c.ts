import { z } from "zod";
import { BulkNumbers } from "./geometry.ts";
import { IcpTuning } from "./icp.ts";
import { idleByAll, idleUnless, isSent, withIdleKeys } from "./idle-keys.ts";
import { PointSource } from "./point-source.ts";

const listed = (side: string) =>
  BulkNumbers.nullish()
    .default(null)
    .describe(
      `(3 * n) x, y, z of each ${side} point in turn, metres; a cluster at 800 m or more from the other points, beyond a gap of three times their radius, is left out as sky`,
    );
const sourced = (side: string) =>
  PointSource.nullish()
    .default(null)
    .describe(
      `${side} points of a session, in true world coordinates; takes precedence over the list; misses are never used`,
    );

const CloudRegisterRequestObject = IcpTuning.extend({
  target_points: listed("target"),
  target_source: sourced("target"),
  source_points: listed("source"),
  source_source: sourced("source"),
  init_transform: z
    .array(z.number())
    .nullish()
    .default(null)
    .describe(
      "(16) start: rigid transform of the source onto the target, 4 x 4 row-major, metres; null = found as initial says. Together with initial: 400. Another length, or not rigid: an error in the tail",
    ),
}).meta({ id: "CloudRegisterRequest" });
export const CloudRegisterRequest = withIdleKeys(
  CloudRegisterRequestObject,
  idleByAll(
    idleUnless(({ target_source }) => !isSent(target_source), "target_points"),
    idleUnless(({ source_source }) => !isSent(source_source), "source_points"),
  ),
);
export type CloudRegisterRequest = z.infer<typeof CloudRegisterRequest>;
