import type { Job } from "../../jobs/job.ts";
import { rescaleU16 } from "../../native/cloud/edit.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import type { IntensityUnits } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { Instead } from "./merge-scans.ts";

/** Ranges of values that differ by more are other quantities, or would lose more than 4 of 16 bits. */
const MOST_RATIO = 16;
const MOST_STORED = 65535;

/** The intensities of merged clouds. */
export interface MergedIntensity {
  /** Undefined: the values have none in common. */
  readonly units: IntensityUnits | undefined;
  /** Columns instead of those of a cloud; the run owns them. */
  readonly instead: ReadonlyMap<CloudState, Instead>;
  readonly warnings: readonly string[];
}

/**
 * Text files stretch their values to 16 bits, each from its own least to its greatest: in the merged cloud they are stretched
 * alike. Values of unknown units, and ranges that are no parts of one, stay as they are, with a warning.
 */
export async function mergedIntensity(states: readonly CloudState[], job: Job): Promise<MergedIntensity> {
  const own = states.filter(({ columns }) => columns.has("intensity"));
  const units = own.map(({ meta }) => meta.intensity_units);
  const [first] = units;
  if (new Set(units.map((unit) => JSON.stringify(unit))).size < 2)
    return { units: first, instead: new Map(), warnings: [] };
  const common = commonUnits(units);
  if (!common) {
    const warning =
      "The intensities of the clouds have different units; the merged column contains their 16-bit values as they are, which do not compare.";
    return { units: undefined, instead: new Map(), warnings: [warning] };
  }
  const instead = new Map<CloudState, Instead>();
  for (const state of own) {
    const { divisor, offset } = state.meta.intensity_units ?? common;
    const column = state.columns.get("intensity")?.native;
    if (!column) continue;
    const moved = (offset - common.offset) * common.divisor;
    const scaled = await job.track(() => rescaleU16(column, common.divisor / divisor, moved));
    instead.set(state, { column: job.adopt(new ColumnRef(scaled)).native, fill: 0 });
  }
  const step = Number((1 / common.divisor).toPrecision(2));
  const warning = `The intensities of the clouds were stretched to 16 bits from different ranges; in the merged cloud they have one range, from ${Number(common.offset.toPrecision(6))} in steps of ${step}.`;
  return { units: common, instead, warnings: [warning] };
}

/** The range of all clouds; null if a unit is unknown, or if it is far wider than that of a cloud. */
function commonUnits(units: readonly (IntensityUnits | undefined)[]): IntensityUnits | null {
  const ranges = units.flatMap((unit) =>
    unit ? [{ low: unit.offset, high: unit.offset + MOST_STORED / unit.divisor }] : [],
  );
  if (ranges.length < units.length) return null;
  const low = Math.min(...ranges.map((range) => range.low));
  const high = Math.max(...ranges.map((range) => range.high));
  const narrowest = Math.min(...ranges.map((range) => range.high - range.low));
  if (!(high - low <= MOST_RATIO * narrowest)) return null;
  return { divisor: MOST_STORED / (high - low), offset: low };
}
