/** Axes of a file that may point upwards, and the rotation (rows of 3) that turns each to +z. */
export const UP_AXES = {
  x: [0, 0, -1, 0, 1, 0, 1, 0, 0],
  y: [1, 0, 0, 0, 0, -1, 0, 1, 0],
  z: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  "-x": [0, 0, 1, 0, 1, 0, -1, 0, 0],
  "-y": [1, 0, 0, 0, 0, 1, 0, -1, 0],
  "-z": [1, 0, 0, 0, -1, 0, 0, 0, -1],
} as const;
export type UpAxis = keyof typeof UP_AXES;

/** The rotation as a row-major 4 x 4 matrix, as `transform` takes it. */
export function uprightMatrix(up: UpAxis): number[] {
  const turn = UP_AXES[up];
  return [0, 1, 2].flatMap((row) => [...turn.slice(3 * row, 3 * row + 3), 0]).concat(0, 0, 0, 1);
}
