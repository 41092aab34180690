import type { SkeletonResponse } from "../../../shared/contract/skeleton.ts";

type Skeleton = Pick<SkeletonResponse, "skeleton_points" | "skeleton_edges" | "branch_orders">;

/* A skeleton as text files. Coordinates are metres, true world, to a tenth of a millimetre. */

const metres = (value: number) => value.toFixed(4);

/** One row per node: its place, its parent (-1 = the base), the length to it, its Strahler order. */
export function skeletonCsv({ skeleton_points, skeleton_edges, branch_orders }: Skeleton): string {
  const parent = new Map(skeleton_edges.map(([from, to]) => [to, from]));
  const rows = skeleton_points.map((place, i) => {
    const above = parent.get(i);
    const from = above === undefined ? place : (skeleton_points[above] ?? place);
    const length = Math.hypot(place[0] - from[0], place[1] - from[1], place[2] - from[2]);
    return [i, ...place.map(metres), above ?? -1, metres(length), branch_orders[i] ?? 1].join(",");
  });
  return `${["node,x,y,z,parent,length,branch_order", ...rows].join("\n")}\n`;
}

/** Lines of an OBJ file. */
export function skeletonObj({ skeleton_points, skeleton_edges }: Skeleton): string {
  const places = skeleton_points.map((place) => `v ${place.map(metres).join(" ")}`);
  const lines = skeleton_edges.map(([from, to]) => `l ${from + 1} ${to + 1}`);
  return `${["# skeleton, metres", ...places, ...lines].join("\n")}\n`;
}

/** Vertices with branch orders, and edges, of a PLY file. */
export function skeletonPly({ skeleton_points, skeleton_edges, branch_orders }: Skeleton): string {
  const head = [
    "ply",
    "format ascii 1.0",
    "comment skeleton, metres",
    `element vertex ${skeleton_points.length}`,
    ...["x", "y", "z"].map((axis) => `property double ${axis}`),
    "property int branch_order",
    `element edge ${skeleton_edges.length}`,
    "property int vertex1",
    "property int vertex2",
    "end_header",
  ];
  const vertices = skeleton_points.map((place, i) => `${place.map(metres).join(" ")} ${branch_orders[i] ?? 1}`);
  return `${[...head, ...vertices, ...skeleton_edges.map((edge) => edge.join(" "))].join("\n")}\n`;
}
