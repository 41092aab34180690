import type { Job } from "../../jobs/job.ts";
import { areReturnNumbers } from "../../native/cloud/cloud.ts";
import { RETURN_EXTRAS } from "./column-roles.ts";
import type { RoledColumn, SourceCloud } from "./source-cloud.ts";

/**
 * The columns of a LAS file without its fields return_number and number_of_returns, if the extra dimensions target_index and
 * target_count say the same, as in exports of scans that count returns from 0: then these two are the session's columns.
 */
export async function withoutRepeatedReturns(
  { kind, columns }: SourceCloud,
  job: Job,
): Promise<readonly RoledColumn[]> {
  if (kind !== "las") return columns;
  const pairs = [...RETURN_EXTRAS].map(([field, extra]) => ({
    field: columns.find(({ name, role }) => role === `las:${name}` && name === field),
    extra: columns.find(({ name, role, slug }) => role === null && slug === null && name === extra),
  }));
  const [number, count] = pairs;
  if (!number?.field || !number.extra || !count?.field || !count.extra) return columns;
  const native = [number.extra, count.extra, number.field, count.field].map(({ column }) => column.native);
  const [a, b, c, d] = native as [(typeof native)[0], (typeof native)[0], (typeof native)[0], (typeof native)[0]];
  const same = await job.track(() => areReturnNumbers(a, b, c, d));
  return same ? columns.filter((one) => one !== number.field && one !== count.field) : columns;
}
