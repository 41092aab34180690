import type { Client } from "../../../shared/client/index.ts";
import type { CostWarning } from "../../../shared/contract/cost-warning.ts";
import type { Field } from "../operations/field.ts";
import type { Operation, OperationContext, Outcome } from "../operations/operation.ts";
import type { Strings } from "../strings.ts";
import type { CloudView } from "../view/cloud-view.ts";
import type { Clouds } from "./clouds.ts";
import type { Connection } from "./connection.ts";
import { ask } from "./dialog.ts";
import { byId, el } from "./dom.ts";
import { makeForm } from "./form.ts";
import { bytes, duration } from "./format.ts";
import type { Jobs } from "./jobs.ts";
import type { Notices } from "./notices.ts";
import type { DesktopBridge } from "./open-files.ts";
import type { Scene } from "./scene.ts";
import type { UnsavedWork } from "./unsaved-work.ts";

export interface OperationsPanelParts {
  readonly page: Document;
  readonly client: Client;
  readonly view: CloudView;
  readonly clouds: Clouds;
  readonly scene: Scene;
  readonly unsaved: UnsavedWork;
  readonly jobs: Jobs;
  readonly notices: Notices;
  readonly connection: Connection;
  readonly desktop: DesktopBridge | undefined;
  readonly texts: Strings["workflow"];
  readonly operations: readonly Operation[];
  readonly onOutcome: (title: string, outcome: Outcome) => void;
}

export interface OperationsPanel {
  /** Opens the form of an operation and puts the focus on it. */
  readonly reveal: (id: string) => void;
}

/** One disclosure per operation with its form; the forms are made when they are first opened. */
export function operationsPanel(parts: OperationsPanelParts): OperationsPanel {
  const panel = byId(parts.page, "operations-panel");
  const disclosures = new Map(parts.operations.map((operation) => [operation.id, disclosure(operation, parts)]));
  panel.append(el("h2", {}, parts.texts.operations.title), ...[...disclosures.values()].map(({ details }) => details));
  const reveal = (id: string) => {
    const { details, fill } = disclosures.get(id) ?? {};
    if (!details) return;
    details.open = true;
    fill?.(); // its event comes later
    details.scrollIntoView({ block: "nearest" });
    details.querySelector<HTMLElement>("input, select, button")?.focus();
  };
  return { reveal };
}

interface Disclosure {
  readonly details: HTMLDetailsElement;
  /** Makes the form if it is open and has none. */
  readonly fill: () => void;
}

function disclosure(operation: Operation, parts: OperationsPanelParts): Disclosure {
  const { id, title, summary } = operation;
  const body = el("div", { class: "operation-body" }, el("p", { class: "help" }, summary));
  const details = el("details", { class: "operation", id: `operation-${id}` }, el("summary", {}, title), body);
  const fill = () => {
    if (!details.open || body.querySelector("form")) return;
    const { desktop, texts, client } = parts;
    const choosePath = desktop && ((field: Field) => choose(desktop, id, field));
    const form = makeForm({
      id: `form-${id}`,
      fields: operation.fields,
      texts,
      choosePath,
      onSubmit: (values) => void start(operation, values, parts),
    });
    body.append(form.element);
    // Without them the fields stay texts; the connection line tells why.
    if (operation.choices) operation.choices(client).then(form.offer, (error) => parts.connection.noticed(error));
  };
  details.addEventListener("toggle", fill);
  return { details, fill };
}

async function choose(desktop: DesktopBridge, id: string, field: Field): Promise<string | null> {
  if (id === "open") return (await desktop.openFiles())[0] ?? null;
  return desktop.saveFile(id === "save" ? "project.proj" : field.name === "dest_path" ? id : field.label);
}

async function start(
  operation: Operation,
  values: Readonly<Record<string, unknown>>,
  { jobs, client, view, clouds, scene, unsaved, texts, notices, page, onOutcome }: OperationsPanelParts,
): Promise<void> {
  if (operation.needs_cloud && !clouds.selected.value) {
    notices.add("error", operation.title, [texts.operations.noCloud]);
    return;
  }
  const confirmCost = (warning: CostWarning) => confirm(page, texts, warning);
  const context: Omit<OperationContext, "run"> = { client, view, clouds, scene, unsaved, texts, confirmCost };
  const cloud = operation.needs_cloud ? clouds.find(clouds.selected.value)?.name : undefined;
  const title = cloud === undefined ? operation.title : `${operation.title}, ${cloud}`;
  if (operation.leaves_work) unsaved.changed(); // a run that is cut off may have changed the cloud already
  const outcome = await jobs.run(title, (run) => operation.run(values, { ...context, run }));
  if (!outcome) return;
  if (operation.leaves_work) unsaved.changed();
  onOutcome(title, outcome);
  if (outcome.warnings.length > 0) notices.add("warning", title, outcome.warnings);
}

function confirm(page: Document, texts: Strings["workflow"], warning: CostWarning): Promise<boolean> {
  const { message, estimated_seconds, estimated_bytes, headroom_bytes } = warning;
  const facts = [
    [texts.cost.seconds, duration(estimated_seconds)],
    [texts.cost.memory, bytes(estimated_bytes)],
    [texts.cost.free, bytes(headroom_bytes)],
  ] as const;
  return ask(byId(page, "dialogs"), {
    title: texts.cost.title,
    content: [
      el("p", {}, message),
      el("dl", { class: "readings" }, ...facts.flatMap(([what, value]) => [el("dt", {}, what), el("dd", {}, value)])),
    ],
    yes: texts.cost.yes,
    no: texts.cost.no,
  });
}
