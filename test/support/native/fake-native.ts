import type { NativeJob, NativeProgress } from "../../../backend/native/core/handles.ts";

/** A native op under the test's control. It ends with code `canceled` when cancel() is called, like the real ones. */
export class FakeNative<T> implements NativeJob<T> {
  readonly promise: Promise<T>;
  now: NativeProgress = { phase: "", done: 0, total: 0 };
  cancelCount = 0;
  #resolve: (value: T) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.promise.catch(() => undefined);
  }
  progress(): NativeProgress {
    return this.now;
  }
  cancel(): void {
    this.cancelCount += 1;
    this.fail("canceled", "canceled");
  }
  finish(value: T): void {
    this.#resolve(value);
  }
  fail(code: string, message: string): void {
    this.#reject(Object.assign(new Error(message), { code }));
  }
}

/** Resolves when everything already queued on the event loop has run, some rounds deep. */
export async function settle(rounds = 20): Promise<void> {
  for (let i = 0; i < rounds; i += 1) await new Promise((resolve) => setImmediate(resolve));
}
