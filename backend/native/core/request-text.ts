import type { BulkKind } from "../../../shared/contract/bulk-list.ts";
import type { NativeColumn, NativeJob } from "./handles.ts";
import { addonAs } from "./load.ts";

/** What a request expects at one place of its JSON document. */
export type JsonShape =
  | { readonly kind: "value" | Exclude<BulkKind, "records"> }
  | { readonly kind: "records"; readonly columns: readonly RecordField[] }
  | { readonly kind: "array"; readonly item: JsonShape }
  | { readonly kind: "record"; readonly item: JsonShape }
  | { readonly kind: "object"; readonly fields: Readonly<Record<string, JsonShape>> };

/** A field of records and the rule of its values; see RecordField in cpp/io/json_lists.h. */
export interface RecordField {
  readonly name: string;
  readonly kind: "number" | "point" | "numbers";
  readonly min: number | null;
  readonly max: number | null;
  /** `min` itself is not allowed. */
  readonly above_min: boolean;
  readonly whole: boolean;
  readonly nullable: boolean;
  /** Value of a field that is absent; without it the field is required. */
  readonly fallback?: number | null;
}

/** The result of cpp/io/json_lists.h. */
export interface JsonDocument {
  /** The document with the string "<token>i" for the i-th list, and null for keys that the shape does not have. */
  readonly rest: string;
  readonly lists: readonly ParsedList[];
  /** There is no document. */
  readonly blank: boolean;
  /** The rest exceeds its limit; nothing else is set. */
  readonly too_large: boolean;
}

/** A list that was read into native memory; `column`: null if an element is not what the shape expects. */
export interface ParsedList {
  readonly length: number;
  readonly column: NativeColumn | null;
  /** Of records that are valid: the values of their lists. */
  readonly items: NativeColumn | null;
  /** Of records that are not: the first one against a rule, and its JSON; empty if that is long. */
  readonly wrong_index: number;
  readonly wrong_text: string;
  /** Of records: keys that no field has. */
  readonly unknown: readonly string[];
}

/** A buffer of a PHB1 frame that holds a list: its first byte and its number of elements. */
export interface FrameList {
  readonly kind: BulkKind;
  readonly dtype: "f32" | "u32";
  readonly offset: number;
  readonly length: number;
  /** Added to points. */
  readonly origin: readonly [number, number, number];
}

/** The text of a request in native memory while it arrives. */
export interface RequestText {
  append(bytes: Uint8Array): void;
  /** Can be called once; frees the text when it ends. Errors: invalid_argument for invalid JSON. */
  parse(
    shape: JsonShape,
    token: string,
    limits: { readonly rest_bytes: number; readonly depth: number },
  ): NativeJob<JsonDocument>;
  /**
   * Instead of parse(): the lists of a PHB1 frame. Errors: invalid_argument for a buffer that ends behind the frame, and
   * for flags.
   */
  frameLists(buffers: readonly FrameList[]): NativeJob<readonly ParsedList[]>;
  /** Frees the text if it was not parsed. */
  release(): void;
}

export interface RequestTextNative {
  openRequestText(bytes: number): RequestText;
}

const addon = addonAs<RequestTextNative>();

/** Room for a text of up to `bytes`; memory is used as it arrives. */
export const openRequestText = (bytes: number): RequestText => addon.openRequestText(bytes);
