import { describe, expect, test } from "vitest";
import { type SkeletonRequest, SkeletonResponse } from "../../shared/contract/skeleton.ts";
import { cylinder, poleTree } from "../support/scans/pole-tree.ts";
import { answered, cloud, refusal, UNKNOWN } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const URL = "/api/skeleton/extract";
const made = sessionTest();
const extract = (payload: object) => answered(made, SkeletonResponse, URL, payload);
const points = poleTree();

/** Strahler orders by the definition. */
function strahler({ skeleton_edges, num_nodes }: SkeletonResponse): number[] {
  const children = Array.from({ length: num_nodes }, (): number[] => []);
  const isChild = new Set<number>();
  for (const [from, to] of skeleton_edges) {
    children[from]?.push(to);
    isChild.add(to);
  }
  const orders: number[] = [];
  const visit = (node: number): number => {
    const below = (children[node] ?? []).map(visit);
    const most = Math.max(1, ...below);
    const order = below.filter((value) => value === most).length >= 2 ? most + 1 : most;
    orders[node] = order;
    return order;
  };
  for (let i = 0; i < num_nodes; i += 1) if (!isChild.has(i)) visit(i);
  return orders;
}

function expectTree(answer: SkeletonResponse): void {
  expect(answer.num_edges).toBe(answer.num_nodes - 1);
  expect(new Set(answer.skeleton_edges.map(([, to]) => to)).size).toBe(answer.num_edges);
  expect(answer.branch_orders).toEqual(strahler(answer));
  const length = answer.skeleton_edges.reduce((sum, [from, to]) => {
    const [a = [0, 0, 0], b = [0, 0, 0]] = [answer.skeleton_points[from], answer.skeleton_points[to]];
    return sum + Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  }, 0);
  expect(answer.total_length).toBeCloseTo(length, 9);
}

describe("a tree with one fork", () => {
  test("every field of the answer", async () => {
    const answer = await extract({ points });
    expect(answer).toMatchObject({
      success: true,
      error: null,
      warnings: [],
      num_branches: 1,
      max_branch_order: 2,
      points_before_filtering: points.length,
      dominant_axis: "z",
      slice_thickness: 0,
      diameters: null,
      search_radius: 0.05,
      points_reached: answer.points_after_filtering,
      num_slices: answer.num_nodes,
      num_blocks_after_filter: answer.blocks.length,
    });
    expectTree(answer);
    expect(answer.num_blocks_before_filter).toBeGreaterThanOrEqual(answer.blocks.length);
    for (const block of answer.blocks) {
      for (const child of block.child_block_ids) expect(answer.blocks[child]?.parent_block_id).toBe(block.block_id);
      const parent = answer.blocks[block.parent_block_id ?? -1];
      if (parent) expect(parent.quantized_level).toBeLessThan(block.quantized_level);
    }
    const levels = answer.blocks.map(({ quantized_level }) => quantized_level);
    expect(levels).toEqual([...levels].sort((a, b) => a - b));
  });

  test("without recentering and smoothing, nodes are the centroids of the blocks", async () => {
    const answer = await extract({ points, recenter: false, smooth_skeleton: false, dominant_axis: "x" });
    expect(answer.skeleton_points).toEqual(answer.blocks.map(({ center }) => center));
    expect(answer.skeleton_edges).toEqual(
      answer.blocks.flatMap(({ block_id, parent_block_id }) =>
        parent_block_id === null ? [] : [[parent_block_id, block_id]],
      ),
    );
    expect(answer.dominant_axis).toBe("x");
  });

  test("smoothing moves nodes with two neighbours to the mean of the three", async () => {
    const rough = await extract({ points, recenter: false, smooth_skeleton: false });
    const once = await extract({ points, recenter: false, smoothing_iterations: 1 });
    const near = rough.skeleton_points.map((): number[] => []);
    for (const [from, to] of rough.skeleton_edges) {
      near[from]?.push(to);
      near[to]?.push(from);
    }
    for (const [i, place] of rough.skeleton_points.entries()) {
      const [a, b, more] = near[i] ?? [];
      const inner = a !== undefined && b !== undefined && more === undefined;
      const wanted = place.map((value, axis) => {
        const of = (node: number | undefined) => rough.skeleton_points[node ?? i]?.[axis] ?? 0;
        return inner ? (value + of(a) + of(b)) / 3 : value;
      });
      for (const [axis, value] of wanted.entries()) expect(once.skeleton_points[i]?.[axis]).toBeCloseTo(value, 12);
    }
  });

  test("levels are of the hops, or of their square root", async () => {
    const even = await extract({ points, use_nonlinear_quantization: false });
    const root = await extract({ points });
    const middle = ({ blocks }: SkeletonResponse) => blocks.find(({ center }) => center[2] > 0.5)?.quantized_level ?? 0;
    expect(middle(root)).toBeGreaterThan(1.5 * middle(even));
  });
});

describe("sources", () => {
  test("a session gives what its points give inline, with the translation added", async () => {
    const session = await cloud(made, ["x y z", ...points.map((point) => point.join(" "))]);
    const inline = await extract({ points });
    const source = { session_id: session.session_id };
    const read = await extract({ source });
    expect(read.num_nodes).toBe(inline.num_nodes);
    const moved = await extract({ source: { ...source, translation: [10, 20, 30] } });
    for (const [i, [x, y, z]] of moved.skeleton_points.entries()) {
      const [a = 0, b = 0, c = 0] = inline.skeleton_points[i] ?? [];
      expect([x - 10 - a, y - 20 - b, z - 30 - c].every((off) => Math.abs(off) < 1e-3)).toBe(true);
    }
    const thinned = await extract({ source: { ...source, max_points: 2000 } });
    expect(thinned.points_before_filtering).toBeLessThanOrEqual(2000);
    expect(thinned.points_before_filtering).toBeGreaterThan(1000);
  });

  test("refusals before the run", async () => {
    expect(await refusal(made, URL, { source: { session_id: "00000000" } })).toEqual(UNKNOWN);
    expect(await refusal(made, URL, {})).toEqual([400, "Send `points` or a `source` descriptor."]);
  });
});

describe("points without a skeleton", () => {
  const lonely = [...Array.from({ length: 49 }, (_, i) => [0, 0, 0.01 * i]), [0, 0, 100]];
  /** Places 2 cm apart with 30 points each: more of the radius reaches no other place. */
  const crowded = Array.from({ length: 600 }, (_, i) => [0, 1e-5 * (i % 30), 0.02 * Math.floor(i / 30)]);
  const cases: readonly [string, Partial<SkeletonRequest>, RegExp][] = [
    ["too few", { points: points.slice(0, 49) as never }, /^Need at least 50 points .* there are 49\.$/],
    ["none", { points: [] as never }, /there are 0\.$/],
    [
      "too few after the outlier removal",
      { points: lonely as never },
      /^Only 49 of 50 points are left after the outlier/,
    ],
    ["no roots", { root_threshold: 0 }, /^No root points/],
    ["unreached", { search_radius: 0.002 }, /^The search .* try a larger search_radius\.$/],
    [
      "crowded",
      { points: crowded as never, remove_outliers: false, root_threshold: 0.01 },
      /with edges up to 0.05 m: points are linked to their 20 nearest alone \(max_neighbors\), and these lie close together: thin the points, or raise max_neighbors\.$/,
    ],
    ["no blocks", { threshold_filter: 1e6 }, /^None of \d+ blocks has 1000000 points/],
    ["one block", { root_threshold: 100 }, /^Only one of 1 blocks is left after filtering/],
  ];
  test.each(cases)("%s", async (_, fields, sentence) => {
    const answer = await extract({ points, ...fields });
    const nothing = { skeleton_points: [], skeleton_edges: [], blocks: [], num_nodes: 0 };
    expect(answer).toMatchObject({ success: false, code: "invalid_argument", ...nothing });
    expect(answer.error).toMatch(sentence);
  });
});

test("points that are not linked to the base are named", async () => {
  const far = cylinder([3, 3, 1], [3, 3, 1.4], 0.05);
  const answer = await extract({ points: [...points, ...far], remove_outliers: false });
  expect(answer.points_reached).toBe(points.length);
  expect(answer.warnings).toEqual([
    expect.stringMatching(/^\d+ points \([\d.]+ %\) are not linked to the base within 0\.05 m/),
  ]);
});

test("unknown keys are named", async () => {
  expect((await extract({ points, smoothing: 3 })).warnings).toEqual([expect.stringContaining('"smoothing"')]);
});
