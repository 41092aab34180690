/** The column that marks sky points: non-zero = no return. */
export const MISS_SLUG = "is_miss";
