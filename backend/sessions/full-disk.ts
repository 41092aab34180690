/** Runs `work`, and again after space was freed if the disk is full. `work` leaves nothing when it fails. */
export type WithRoom = <T>(work: () => Promise<T>) => Promise<T>;

/** True for an error of a disk without space. */
export const isNoSpace = (error: unknown): boolean =>
  ["no_space", "ENOSPC", "EDQUOT"].includes((error as { code?: string }).code ?? "");

/** The reason of a failure, for a sentence to the user. */
export const reasonOf = (error: unknown): string => (error instanceof Error && error.message) || String(error);
