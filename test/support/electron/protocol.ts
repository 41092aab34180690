import type { BackendStop, StateChange } from "../../../backend/entry/supervisor-contract.ts";

/** What the test asks the driver to do. */
export type DriverCommand =
  /** Opens a window on `page` and fetches `urls` from there; attached, its requests carry the token. */
  | { readonly do: "fetch"; readonly attach: boolean; readonly page: string; readonly urls: readonly string[] }
  /** Closes every window as a user would, and waits for the backend to end. */
  | { readonly do: "close-window" }
  | { readonly do: "quit" };

/** What the driver tells. */
export type DriverEvent =
  | ({ readonly event: "state"; readonly ms: number; readonly token: string } & StateChange)
  | { readonly event: "fetched"; readonly statuses: readonly number[] }
  | ({ readonly event: "stopped"; readonly ms: number } & BackendStop)
  | { readonly event: "failed"; readonly message: string };
