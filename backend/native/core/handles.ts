/** What a native op tells while it runs. `phase` is written for the user; `total` 0 = the phase cannot tell its length. */
export interface NativeProgress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

/**
 * A native op on its own thread. `promise` rejects with an Error whose `code` is a name of cpp/core/error.h.
 * `cancel()` raises a flag; the op ends within 250 ms and `promise` rejects with code `canceled`.
 */
export interface NativeJob<T> {
  readonly promise: Promise<T>;
  progress(): NativeProgress;
  cancel(): void;
}
