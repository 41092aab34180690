import type { z } from "zod";
import { ApiError, type Client } from "../../../shared/client/index.ts";
import { CostRefusal, type CostWarning } from "../../../shared/contract/cost-warning.ts";
import type { Strings } from "../strings.ts";
import type { CloudView } from "../view/cloud-view.ts";
import type { Cloud, Clouds } from "../workflow/clouds.ts";
import type { JobRun } from "../workflow/jobs.ts";
import type { Scene, TreeOrigin } from "../workflow/scene.ts";
import type { UnsavedWork } from "../workflow/unsaved-work.ts";
import { type Field, type FieldText, fieldOf } from "./field.ts";

/** What an operation works with. */
export interface OperationContext {
  readonly client: Client;
  readonly view: CloudView;
  readonly clouds: Clouds;
  readonly scene: Scene;
  readonly unsaved: UnsavedWork;
  readonly texts: Strings["workflow"];
  readonly run: JobRun;
  /** Asks the user whether a long or large run shall start. */
  readonly confirmCost: (warning: CostWarning) => Promise<boolean>;
}
export interface CloudContext extends OperationContext {
  readonly cloud: Cloud;
}

/** A line of a result: what, and its value with unit. */
export type Fact = readonly [what: string, value: string];

export interface Outcome {
  readonly facts: readonly Fact[];
  readonly warnings: readonly string[];
  /** A small chart: one bar per label, from the top. */
  readonly bars?: {
    readonly title: string;
    readonly unit: string;
    readonly rows: readonly (readonly [string, number])[];
  };
  /** A file for the user; `trees`: what it lists. */
  readonly file?: {
    readonly name: string;
    readonly content: BlobPart;
    readonly type: string;
    readonly trees?: TreeOrigin;
  };
}

export interface Operation {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly needs_cloud: boolean;
  /** False: it changes nothing that a project would keep. */
  readonly leaves_work: boolean;
  readonly fields: readonly Field[];
  /** Choices that the service knows, by field name. */
  readonly choices?: (client: Client) => Promise<Readonly<Record<string, readonly (readonly [string, string])[]>>>;
  /** Null: the user decided against the run. */
  readonly run: (values: Readonly<Record<string, unknown>>, context: OperationContext) => Promise<Outcome | null>;
}

interface Words<K extends string> {
  readonly title: string;
  readonly summary: string;
  readonly fields: Readonly<Record<K, FieldText>>;
}
interface Table<S extends z.ZodObject, K extends keyof S["shape"] & string, C> {
  readonly id: string;
  /** Contract of the request; fields of the form are a part of its fields. */
  readonly schema: S;
  readonly words: Words<K>;
  /** Default true. */
  readonly leaves_work?: boolean;
  readonly choices?: Operation["choices"];
  readonly run: (request: Pick<z.input<S>, K>, context: C) => Promise<Outcome | null>;
}

/** An operation on the selected cloud. */
export function cloudOperation<S extends z.ZodObject, K extends keyof S["shape"] & string>(
  table: Table<S, K, CloudContext>,
): Operation {
  return {
    ...anyOperation(table),
    needs_cloud: true,
    run: (values, context) => {
      const cloud = context.clouds.find(context.clouds.selected.value);
      if (!cloud) throw new Error(context.texts.operations.noCloud);
      return table.run(values as Pick<z.input<S>, K>, { ...context, cloud });
    },
  };
}

/** An operation that needs no cloud. */
export function freeOperation<S extends z.ZodObject, K extends keyof S["shape"] & string>(
  table: Table<S, K, OperationContext>,
): Operation {
  return {
    ...anyOperation(table),
    needs_cloud: false,
    run: (values, context) => table.run(values as Pick<z.input<S>, K>, context),
  };
}

function anyOperation<S extends z.ZodObject, K extends keyof S["shape"] & string, C>({
  id,
  schema,
  words,
  choices,
  leaves_work = true,
}: Table<S, K, C>) {
  const fields = Object.entries<FieldText>(words.fields).map(([name, text]) =>
    fieldOf(name, schema.shape[name] as unknown as z.ZodType, text),
  );
  return { id, title: words.title, summary: words.summary, leaves_work, fields, ...(choices ? { choices } : {}) };
}

/** Sends a request that the service may first answer with its cost. Null: the user decided against it. */
export async function acknowledged<T>(
  send: (cost: { readonly acknowledge_cost: boolean }) => Promise<T>,
  confirm: OperationContext["confirmCost"],
): Promise<T | null> {
  try {
    return await send({ acknowledge_cost: false });
  } catch (error) {
    const refusal = error instanceof ApiError ? CostRefusal.shape.detail.safeParse(error.detail) : null;
    if (!refusal?.success) throw error;
    return (await confirm(refusal.data.cost_warning)) ? send({ acknowledge_cost: true }) : null;
  }
}
