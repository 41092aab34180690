import type { Job } from "../../../jobs/job.ts";
import * as cloud from "../../../native/cloud/cloud.ts";
import type { CloudViewInput } from "../../../native/files/writers.ts";
import type { ExtraDim } from "../../../sessions/column-names.ts";
import { ColumnRef } from "../../../sessions/column-ref.ts";

/** LAS fields of the returns of a pulse. */
export const RETURN_FIELDS: ReadonlySet<string> = new Set(["return_number", "number_of_returns"]);

interface NumberedView {
  readonly input: CloudViewInput;
  readonly warnings: readonly string[];
}

/**
 * The columns of a LAS file with its fields return_number and number_of_returns, which count from 1, where target_index
 * and target_count count otherwise. These two stay as they are and become extra dimensions, so nothing is lost. `dims`:
 * what the session knows of its columns; one that comes from a LAS field goes back to it and is not numbered again.
 */
export async function withReturnNumbers(
  input: CloudViewInput,
  dims: readonly ExtraDim[],
  job: Job,
): Promise<NumberedView> {
  const { scalars } = input;
  const own = (slug: string) =>
    scalars.find((one) => one.slug === slug && !dims.some((dim) => dim.slug === slug && dim.las_field));
  const [index, count] = [own("target_index"), own("target_count")];
  if (!index || !count || scalars.some(({ slug }) => RETURN_FIELDS.has(slug))) return { input, warnings: [] };
  const found = await job.track(() => cloud.returnNumbers(index.column, count.column));
  if (!found) {
    const text = "target_index or target_count has values that are no whole numbers from 0 to 255:";
    return { input, warnings: [`${text} every point is written as return 1 of 1, with both as extra dimensions.`] };
  }
  for (const column of [found.number, found.count]) job.adopt(new ColumnRef(column));
  // Columns that are return numbers go to the fields themselves.
  if (found.as_given) return { input, warnings: [] };
  const numbers = [
    { slug: "return_number", label: "return_number", column: found.number },
    { slug: "number_of_returns", label: "number_of_returns", column: found.count },
  ];
  const shortened = found.shortened_count;
  const warnings =
    shortened > 0
      ? [
          `${shortened} points are of pulses with more than 15 returns, the most that LAS can number: their return_number or number_of_returns is 15; target_index and target_count have them all.`,
        ]
      : [];
  return { input: { ...input, scalars: [...numbers, ...scalars] }, warnings };
}
