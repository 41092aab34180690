/** Flags and description of the option, the same for each command that has it. */
export const UP_OPTION = [
  "--up <axis>",
  "axis of the file that points upwards: x, y, z, -x, -y or -z (default z); results have it as z",
] as const;
