const PROPERTIES = ["x", "y", "z"].map((name) => `property double ${name}\n`).join("");

/** A PLY file of places: x, y, z after each other, metres. */
export function plyOf(xyz: Float64Array): Buffer {
  const head = `ply\nformat binary_little_endian 1.0\nelement vertex ${xyz.length / 3}\n${PROPERTIES}end_header\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(xyz.buffer, xyz.byteOffset, xyz.byteLength)]);
}
