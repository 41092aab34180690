import { AppError } from "../errors.ts";
import { MAX_MARKER_BYTES, MAX_MARKER_TEXT_CHARS } from "../limits.ts";
import { isPlainObject, magicWord, paddedJson, utf8, viewOf } from "./bytes.ts";

/*
 * PHP1: a progress marker, before the tail of a run's stream. Little-endian.
 *
 * offset  size      type   meaning
 * 0       4         bytes  magic "PHP1"
 * 4       4         u32    json_len, bytes of the payload with its padding
 * 8       json_len  UTF-8  the object below, right-padded with spaces to a multiple of 4
 *
 * key       type            present
 * progress  0..1 or null    always; null = unknown (the bar does not move)
 * message   string          always; text for the user
 * run_id    string          first marker only; the token for POST /api/cancel/{run_id}
 * canceled  true            last marker of a canceled run; no tail follows; `cancelled` has the same value
 * error     string, not ""  last marker of a failed run; on JSON routes a JSON tail with `error` follows
 */

export const PHP1_MAGIC = magicWord("PHP1");

export interface Marker {
  readonly progress: number | null;
  readonly message: string;
  readonly run_id?: string;
  readonly canceled?: true;
  readonly error?: string;
}

/** Encodes one marker. Cuts texts at MAX_MARKER_TEXT_CHARS; a progress of NaN becomes null. */
export function encodeMarker(marker: Marker): Uint8Array {
  const { progress, message, run_id, canceled, error } = marker;
  const out = paddedJson(
    {
      progress: progress === null || Number.isNaN(progress) ? null : Math.min(1, Math.max(0, progress)),
      message: message.slice(0, MAX_MARKER_TEXT_CHARS),
      run_id,
      canceled,
      cancelled: canceled,
      error: error?.slice(0, MAX_MARKER_TEXT_CHARS),
    },
    8,
  );
  const view = viewOf(out);
  view.setUint32(0, PHP1_MAGIC, true);
  view.setUint32(4, out.length - 8, true);
  return out;
}

/**
 * Decodes the marker at the start of `bytes`; undefined while it is incomplete, `marker` undefined if its JSON is
 * invalid (readers skip it). Errors: invalid_file if json_len is above the limit, at once, without waiting for the
 * payload.
 */
export function decodeMarker(bytes: Uint8Array): { marker: Marker | undefined; length: number } | undefined {
  if (bytes.length < 8) return undefined;
  const view = viewOf(bytes);
  if (view.getUint32(0, true) !== PHP1_MAGIC) throw new AppError("invalid_file", 'a marker must start with "PHP1"');
  const jsonLength = view.getUint32(4, true);
  if (jsonLength > MAX_MARKER_BYTES) {
    throw new AppError("invalid_file", `PHP1 marker: json_len ${jsonLength} is above the limit of ${MAX_MARKER_BYTES}`);
  }
  if (bytes.length < 8 + jsonLength) return undefined;
  return { marker: parsePayload(bytes.subarray(8, 8 + jsonLength)), length: 8 + jsonLength };
}

function parsePayload(json: Uint8Array): Marker | undefined {
  let value: unknown;
  try {
    value = JSON.parse(utf8(json));
  } catch {
    return undefined; // by the format's definition, an invalid marker is skipped
  }
  if (!isPlainObject(value)) return undefined;
  const { progress, message, run_id, error } = value;
  return {
    progress: typeof progress === "number" ? Math.min(1, Math.max(0, progress)) : null,
    message: typeof message === "string" ? message : "",
    ...(typeof run_id === "string" ? { run_id } : {}),
    // Existing services write the spelling `cancelled`, which is accepted too.
    ...(value.canceled === true || value.cancelled === true ? { canceled: true as const } : {}),
    ...(typeof error === "string" && error !== "" ? { error } : {}),
  };
}
