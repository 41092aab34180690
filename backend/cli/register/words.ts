import type { IcpSuccess } from "../../../shared/contract/icp.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import type { Fact } from "../report/summary.ts";
import { commandLineWords } from "../wording.ts";
import type { Pose } from "./pose.ts";

/** Conditioning below which the service warns of a free motion, and above which all six motions are held well. */
const FREE = 1e-3;
const FIRM = 1e-2;
/** Flat places below which the service says that nothing tells whether the pose is right. */
const FEW_PLACES = 100;

const metres = (value: number) => `${shortNumber(Number(value.toPrecision(4)))} m`;
const percent = (share: number) => `${plainNumber(100 * share, 1)} %`;

/** A warning in the words of the command line: its sides are called moving and fixed. */
export function sideWords(text: string, { is_inverted }: Pick<Pose, "is_inverted">): string {
  const [source, target] = is_inverted ? ["fixed", "moving"] : ["moving", "fixed"];
  const named = text
    .replaceAll(/\b([Tt])he (source|target)('s)?/g, (_all, t: string, side: string, of: string | undefined) => {
      return `${t}he ${side === "source" ? source : target} file${of ?? ""}`;
    })
    .replaceAll(/\bsource (?=point)/g, `${source} `);
  return commandLineWords(named);
}

/** What the pose is worth, in a sentence. */
export function verdict({ answer }: Pose): string {
  const { quality_warning, fitness, converged, kept_start, conditioning, overlap, global_alignment, pose_check } =
    answer;
  if (!(fitness > 0)) return "The files do not overlap: this is no pose.";
  if (kept_start)
    return "Not registered: the iterations led to a worse pose than the start, which was kept. Try --initial auto, or align the files roughly first.";
  if (quality_warning !== null) return "The pose is probably wrong: look at the pictures.";
  if (global_alignment?.outcome === "ambiguous")
    return "Another pose fits almost as well: look at the pictures before you use this one.";
  if (global_alignment?.outcome === "none")
    return "The search found no pose that stands out from chance: look at the pictures.";
  if (pose_check?.verdict === "undecided" && answer.surface_agreement.place_count < FEW_PLACES)
    return "Too few surfaces face each other to tell whether the pose is right: look at the pictures.";
  if (conditioning < FREE)
    return "The files fit, but their surfaces leave a motion free: that part of the pose is arbitrary.";
  if (!converged) return "The pose has not settled and may be wrong: look at the pictures, or allow more --iterations.";
  if (overlap < 0.3) return "The files overlap in a small part only: look at the pictures.";
  return "Nothing speaks against the pose: it has settled, the overlap fits, and every motion is held.";
}

function conditioningText(value: number): string {
  const word = value < FREE ? "a motion is free" : value < FIRM ? "one motion is held weakly" : "all motions are held";
  return `${value.toExponential(1)} (${word})`;
}

function surfaceText({ agreement, place_count }: IcpSuccess["surface_agreement"]): string {
  if (place_count === 0) return "no flat surface to compare";
  return `${percent(agreement)} of what both files have, at ${place_count} flat places`;
}

function checkText(check: IcpSuccess["pose_check"]): string {
  if (!check) return "not needed: the surfaces prove the pose";
  const { verdict, turn_deg, shift_m, agreement, rival_agreement } = check;
  if (verdict === "confirmed")
    return `finds this pose (agreement ${percent(agreement)}, next ${percent(rival_agreement)})`;
  if (verdict === "undecided") return "finds no pose that stands out";
  return `finds another pose that fits better, turned by ${plainNumber(turn_deg, 1)}° and shifted by ${metres(shift_m)}`;
}

/** Angle and axis of a rotation, degrees. */
export function turnOf(matrix: readonly number[]): { readonly angle_deg: number; readonly axis: number[] } {
  const at = (row: number, column: number) => matrix[4 * row + column] ?? 0;
  const axis = [at(2, 1) - at(1, 2), at(0, 2) - at(2, 0), at(1, 0) - at(0, 1)];
  const sine = Math.hypot(...axis) / 2;
  const cosine = (at(0, 0) + at(1, 1) + at(2, 2) - 1) / 2;
  const length = Math.hypot(...axis);
  return {
    angle_deg: (Math.atan2(sine, cosine) * 180) / Math.PI,
    axis: length > 0 ? axis.map((value) => value / length) : [0, 0, 1],
  };
}

/** The most important numbers, for the terminal and the report. */
export function poseFacts(pose: Pose, centre_shift: readonly number[]): Fact[] {
  const { matrix, answer, is_inverted } = pose;
  const turn = turnOf(matrix);
  const facts: Fact[] = [
    ["Verdict", verdict(pose)],
    ["RMSE of the overlap", metres(answer.overlap_rmse)],
    [
      "Overlap",
      `${percent(answer.overlap)} of the ${is_inverted ? "fixed" : "moving"} file, within ${metres(answer.final_limit)}`,
    ],
    ["RMSE of all matched points", `${metres(answer.rmse)}, within ${metres(answer.correspondence_limit)}`],
    ["Fitness", `${percent(answer.fitness)} within ${metres(answer.correspondence_limit)}`],
    [
      "Turn",
      `${plainNumber(turn.angle_deg, 4)}° about (${turn.axis.map((value) => plainNumber(value, 3)).join(", ")})`,
    ],
    ["Shift of the middle x, y, z", `${centre_shift.map((value) => plainNumber(value, 4)).join(", ")} m`],
    ["Surfaces that agree", surfaceText(answer.surface_agreement)],
    ["Search among all poses", checkText(answer.pose_check)],
    ["Conditioning", conditioningText(answer.conditioning)],
    ["Iterations", `${answer.iterations_done}, ${answer.converged ? "settled" : "not settled"}`],
    ["Method", `${answer.method.replaceAll("_", " ")}, started ${START[answer.start]}`],
  ];
  if (is_inverted) facts.push(["Direction", "the mesh was moved onto the cloud, and the motion turned round"]);
  return facts;
}

const START: Readonly<Record<IcpSuccess["start"], string>> = {
  centroid: "with the middles on each other",
  as_placed: "where the files are",
  global: "from the motion that the search among all turns and shifts found",
  init_transform: "from the given motion",
};
