import type { Field, FieldWords } from "../operations/field.ts";
import { FieldError, parsedValue } from "../operations/field.ts";
import type { Strings } from "../strings.ts";
import { button, el } from "./dom.ts";

export type Choices = Readonly<Record<string, readonly (readonly [value: string, label: string])[]>>;

export interface FormParts {
  readonly id: string;
  readonly fields: readonly Field[];
  readonly texts: Pick<Strings["workflow"], "form" | "choices">;
  /** Chooses a path with a dialog of the desktop app; absent in a browser. */
  readonly choosePath?: ((field: Field) => Promise<string | null>) | undefined;
  readonly onSubmit: (values: Readonly<Record<string, unknown>>) => void;
}

export interface Form {
  readonly element: HTMLFormElement;
  /** Choices that came from the service. */
  readonly offer: (choices: Choices) => void;
}

type Control = HTMLInputElement | HTMLSelectElement;

/** A form with one line per field: label, control, explanation with the default. */
export function makeForm({ id, fields, texts, choosePath, onSubmit }: FormParts): Form {
  const controls = new Map<string, Control>();
  const lines = fields.map((field) => line(field, `${id}-${field.name}`, { texts, choosePath, controls }));
  const submit = (event: Event) => {
    event.preventDefault();
    const values = read(fields, controls, id, texts.form);
    if (values) onSubmit(values);
  };
  const run = el("button", { type: "submit", class: "primary", "data-key": `run-${id}` }, texts.form.run);
  const element = el("form", { class: "form", novalidate: true, on: { submit } }, ...lines, el("div", {}, run));
  const offer = (choices: Choices) => {
    for (const [name, offered] of Object.entries(choices)) {
      const field = fields.find((one) => one.name === name);
      const control = controls.get(name);
      if (!field || !control) continue;
      const select = selectOf(`${id}-${name}`, field, offered, texts.form.automatic);
      controls.set(name, select);
      control.replaceWith(select);
    }
  };
  return { element, offer };
}

function line(
  field: Field,
  id: string,
  {
    texts,
    choosePath,
    controls,
  }: Pick<FormParts, "texts" | "choosePath"> & { readonly controls: Map<string, Control> },
): HTMLElement {
  const control = controlOf(field, id, texts);
  controls.set(field.name, control);
  const isPath = field.name === "path" || field.name === "dest_path";
  const choose =
    isPath &&
    choosePath &&
    button(texts.form.choose, () => {
      void choosePath(field).then((path) => {
        if (path !== null) control.value = path;
      });
    });
  const preset = presetText(field, texts);
  return el(
    "div",
    { class: isPath ? "field wide" : "field" },
    el("label", { for: id }, field.label),
    el("div", { class: "row" }, control, choose),
    el("p", { class: "help", id: `${id}-help` }, `${field.explanation}${preset === "" ? "" : ` ${preset}`}`),
    el("p", { class: "problem", id: `${id}-error`, hidden: true }),
  );
}

function controlOf(field: Field, id: string, texts: FormParts["texts"]): Control {
  const common = { id, name: field.name, "aria-describedby": `${id}-help ${id}-error` };
  if (field.kind === "flag") return el("input", { ...common, type: "checkbox", checked: field.preset === true });
  if (field.kind === "choice") {
    const offered = field.choices.map((value) => [value, texts.choices[value] ?? value] as const);
    return selectOf(id, field, offered, texts.form.automatic);
  }
  const isNumber = field.kind === "number" || field.kind === "integer";
  const placeholder =
    field.preset === null ? texts.form.automatic : field.preset === undefined ? texts.form.required : undefined;
  return el("input", {
    ...common,
    type: "text",
    inputmode: isNumber ? "decimal" : undefined,
    autocomplete: "off",
    spellcheck: "false",
    placeholder: isNumber || field.preset === undefined ? placeholder : undefined,
    required: field.preset === undefined,
    value: field.preset === null || field.preset === undefined ? "" : String(field.preset),
  });
}

function selectOf(id: string, field: Field, offered: readonly (readonly [string, string])[], automatic: string) {
  const options = offered.map(([value, label]) => el("option", { value, selected: value === field.preset }, label));
  if (field.preset === null) options.unshift(el("option", { value: "", selected: true }, automatic));
  return el("select", { id, name: field.name, "aria-describedby": `${id}-help ${id}-error` }, ...options);
}

function presetText({ kind, preset }: Field, { form, choices }: FormParts["texts"]): string {
  if (preset === undefined || kind === "flag") return "";
  if (preset === null)
    return kind === "number" || kind === "integer" || kind === "choice" ? form.defaultValue(form.automatic) : "";
  return preset === "" ? "" : form.defaultValue(choices[String(preset)] ?? String(preset));
}

/** The values, or undefined after showing what is wrong, with the focus on the first such field. */
function read(
  fields: readonly Field[],
  controls: ReadonlyMap<string, Control>,
  id: string,
  words: FieldWords,
): Record<string, unknown> | undefined {
  const values: Record<string, unknown> = {};
  let first: Control | undefined;
  for (const field of fields) {
    const control = controls.get(field.name);
    if (!control) continue;
    const message = document.getElementById(`${id}-${field.name}-error`);
    let problem = "";
    try {
      values[field.name] =
        control instanceof HTMLInputElement && control.type === "checkbox"
          ? control.checked
          : parsedValue(field, control.value, words);
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      problem = error.message;
      first ??= control;
    }
    control.toggleAttribute("aria-invalid", problem !== "");
    if (problem !== "") control.setAttribute("aria-invalid", "true");
    if (message) {
      message.textContent = problem;
      message.hidden = problem === "";
    }
  }
  first?.focus();
  return first ? undefined : values;
}
