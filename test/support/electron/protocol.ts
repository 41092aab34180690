import type { BackendStop, StateChange } from "../../../backend/entry/supervisor-contract.ts";

/** What the test asks the driver to do. */
export type DriverCommand =
  /** Opens a window on `page` and fetches `urls` from there; attached, its requests carry the token. */
  | { readonly do: "fetch"; readonly attach: boolean; readonly page: string; readonly urls: readonly string[] }
  /** Opens the product's window, with a file if there is one, and waits until its page lists a cloud. */
  | { readonly do: "app-window"; readonly file: string | null }
  /** Runs the operation of this id in the page of the product's window. */
  | { readonly do: "operation"; readonly id: string }
  /** Closes the product's window; its question is answered with the button of this number. */
  | { readonly do: "close-app-window"; readonly button: number }
  /** Closes every window as a user would, and waits for the backend to end. */
  | { readonly do: "close-window" }
  | { readonly do: "quit" };

/** What the driver tells. */
export type DriverEvent =
  | ({ readonly event: "state"; readonly ms: number; readonly token: string } & StateChange)
  | { readonly event: "fetched"; readonly statuses: readonly number[] }
  | { readonly event: "opened" }
  | { readonly event: "operated" }
  /** After the window was asked to close: how often it asked, and whether it is still there. */
  | { readonly event: "closed"; readonly asked: number; readonly is_open: boolean; readonly keeps: boolean | null }
  | ({ readonly event: "stopped"; readonly ms: number } & BackendStop)
  | { readonly event: "failed"; readonly message: string };
