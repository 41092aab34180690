import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/lad.ts";
import type { LadGrid } from "./grid.ts";
import type { ReadScan } from "./scans/scans.ts";

const refused = (message: string) => new AppError("invalid_argument", message);

/** Shares of docs/accuracy.md, "Leaf area density". */
const EQUAL =
  "The returns of a pulse count alike, and a pulse that leaves intercept in part counts as intercepted. In scans of known leaves with G given the leaf area was 12 % low (weak returns lost) to 40 % high, and 1.6, 2.2 and 3.3 times the truth with beams a sixth, a third and two thirds as wide as a leaf. Send return_weights energy with leaf_intensity of each scan if its intensities are linear.";

export const equalWeightWarnings = ({ scans }: native.TracedBeams): string[] =>
  scans.some(({ grouped }) => grouped) ? [EQUAL] : [];

/** Errors: invalid_argument for scans with several returns per pulse that lack intensities or leaf_intensity. */
export function requireEnergies(scans: readonly ReadScan[]): void {
  const multi = scans.filter(({ beams }) => beams.timestamps !== null);
  if (multi.length === 0) {
    throw refused(
      "return_weights energy needs a scan with return_type multi and its columns timestamp, target_index and target_count.",
    );
  }
  const without = multi.filter(({ energy }) => energy === null).map(({ notes }) => notes.name);
  if (without.length > 0)
    throw refused(`return_weights energy needs intensities: ${without.slice(0, 10).join(", ")} has none.`);
  const unknown = multi.filter(({ leaf_intensity }) => leaf_intensity === null).map(({ notes }) => notes.name);
  if (unknown.length > 0)
    throw refused(`return_weights energy needs leaf_intensity of ${unknown.slice(0, 10).join(", ")}.`);
}

/** The scans whose returns have shares of their pulse; those with one return per pulse as they are. */
export async function sharedScans(
  scans: readonly ReadScan[],
  { scans: counts }: native.TracedBeams,
  hit_cosine: number,
  grid: LadGrid,
  job: Job,
): Promise<{ readonly scans: ReadScan[]; readonly warnings: string[] }> {
  const known: (Unit | null)[] = [];
  for (const [i, scan] of scans.entries()) known.push(counts[i]?.grouped ? await unitOf(scan, grid, job) : null);
  const parted = known.flatMap((unit) => (unit?.parted ? [unit.balance] : []));
  const sum = (key: keyof native.EnergyBalance) => parted.reduce((total, balance) => total + balance[key], 0);
  const pooled = {
    whole_pulses: sum("whole_pulses"),
    whole_energy: sum("whole_energy"),
    partial_energy: sum("partial_energy"),
  };
  const cosine = parted.length > 0 ? partialCosine(pooled, hit_cosine) : hit_cosine;
  const out = scans.map((scan, i): ReadScan => {
    const unit = known[i];
    if (!unit) return scan;
    const by = unit.parted ? cosine : hit_cosine;
    const { intensity, scale, offset, parted: partial_misses } = unit;
    const shares = { intensity, scale: scale / by, offset: offset / by, partial_misses };
    return { ...scan, beams: { ...scan.beams, shares } };
  });
  const warnings = scans.flatMap(({ notes: { name } }, i) => {
    const unit = known[i];
    return unit ? [...(unit.parted ? [] : [noPartialMisses(name)]), ...brightPulses(name, unit.balance)] : [];
  });
  return { scans: out, warnings };
}

/** Energies of a scan in the unit of leaf_intensity. */
interface Unit {
  readonly intensity: native.PulseShares["intensity"];
  readonly scale: number;
  readonly offset: number;
  readonly balance: native.EnergyBalance;
  /** Pulses that leaves intercept in part have a miss. */
  readonly parted: boolean;
}

async function unitOf({ beams, energy, leaf_intensity }: ReadScan, grid: LadGrid, job: Job): Promise<Unit | null> {
  if (!energy || leaf_intensity === null) return null;
  const { intensity, units } = energy;
  const unit = { intensity, scale: 1 / (units.divisor * leaf_intensity), offset: units.offset / leaf_intensity };
  const plain = { ...beams, shares: { ...unit, partial_misses: false } };
  const balance = await job.track(() => native.energyBalance(plain, grid.box));
  return { ...unit, balance, parted: balance.partial_energy > 0 };
}

/** Errors: invalid_argument if leaf_intensity does not fit the energies. */
function partialCosine(balance: native.WholeAndPartial, hit_cosine: number): number {
  const mean = balance.whole_energy / balance.whole_pulses;
  const found = `Pulses without a miss return ${mean.toFixed(2)} of leaf_intensity in the mean`;
  if (mean > 1) throw refused(`${found}, more than leaves that face the scanner: leaf_intensity is too low.`);
  const cosine = native.partialCosine(balance, hit_cosine);
  if (cosine <= 1) return cosine;
  throw refused(
    `${found}; leaves with this G return at least ${hit_cosine.toFixed(2)}: leaf_intensity is too high, or G does not fit.`,
  );
}

/** Share of the pulses that send back more than leaves can, from which on it is told. */
const MOST_BRIGHT = 0.05;

function brightPulses(name: string, { pulses, bright_pulses }: native.EnergyBalance): string[] {
  if (!(bright_pulses > MOST_BRIGHT * pulses)) return [];
  return [
    `${name}: ${Math.round((100 * bright_pulses) / pulses)} % of the pulses with hits in the grid return more than 1.25 times leaf_intensity, more than a leaf that fills the beam and faces it. Either leaf_intensity is too low, and the leaf area too high (three times with half of what it should be), or surfaces brighter than leaves, like trunks, are in the grid.`,
  ];
}

const noPartialMisses = (name: string) =>
  `${name} has no pulse with both returns and a miss, so pulses that leaves fill are not told from those they fill in part: each counts by its energy alone, and surfaces brighter or darker than leaves, like trunks, bias the voxels at and behind them.`;
