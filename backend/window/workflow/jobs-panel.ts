import type { Strings } from "../strings.ts";
import { button, byId, el, replaceChildren } from "./dom.ts";
import { duration } from "./format.ts";
import type { Job, Jobs } from "./jobs.ts";

type Texts = Strings["workflow"]["jobs"];

/** The list of jobs, and the status line with the newest. */
export function jobsPanel(page: Document, jobs: Jobs, texts: Texts): void {
  const list = el("ul", { class: "items" });
  const none = el("p", { class: "help" }, texts.none);
  const panel = byId(page, "jobs-panel");
  panel.tabIndex = 0; // it scrolls, and without a running job nothing in it takes the focus
  panel.setAttribute("aria-label", texts.title);
  panel.append(el("h2", {}, texts.title), none, list);
  const rows = new Map<number, Row>();
  jobs.list.follow((shown) => {
    for (const id of rows.keys()) if (!shown.some((job) => job.id === id)) rows.delete(id);
    for (const job of shown) {
      const row = rows.get(job.id) ?? makeRow(job, jobs, texts);
      rows.set(job.id, row);
      row.update(job);
    }
    none.hidden = shown.length > 0;
    const elements = shown.map(({ id }) => rows.get(id)?.element);
    const isSame = list.children.length === elements.length && elements.every((one, i) => list.children[i] === one);
    if (!isSame) replaceChildren(list, ...elements);
  });
  statusLine(byId(page, "progress-panel"), jobs, texts);
  setInterval(() => {
    for (const job of jobs.list.value) if (job.state === "running") rows.get(job.id)?.update(job);
  }, 1000);
}

interface Row {
  readonly element: HTMLElement;
  readonly update: (job: Job) => void;
}

function makeRow({ id, title }: Job, jobs: Jobs, texts: Texts): Row {
  const bar = el("progress", { max: 1, "aria-label": texts.progress(title) });
  const detail = el("small", {});
  const cancel = button(texts.cancel, () => jobs.cancel(id), {
    "aria-label": texts.cancelJob(title),
    "data-key": `job-${id}`,
  });
  const element = el("li", { class: "job" }, el("span", { class: "item-name" }, title, detail), cancel, bar);
  const update = ({ state, progress, stage, started, ended }: Job) => {
    const isRunning = state === "running";
    bar.hidden = !isRunning;
    cancel.hidden = !isRunning;
    if (progress === null) bar.removeAttribute("value");
    else bar.value = progress;
    const seconds = ((ended ?? Date.now()) - started) / 1000;
    const share = progress === null || !isRunning ? "" : `${Math.floor(100 * progress)} %`;
    const words = [isRunning ? stage : texts.states[state], share, isRunning && seconds < 2 ? "" : duration(seconds)];
    detail.textContent = words.filter((word) => word !== "").join(", ");
    element.dataset.state = state;
  };
  return { element, update };
}

/** Says stages and ends, not every percent. */
function statusLine(place: HTMLElement, jobs: Jobs, texts: Texts): void {
  const text = el("span", {}, texts.ready);
  const bar = el("progress", { max: 1, "aria-hidden": "true", hidden: true });
  place.append(bar, text);
  jobs.list.follow((list) => {
    const job = list.find(({ state }) => state === "running") ?? list[0];
    if (!job) return;
    const isRunning = job.state === "running";
    const words = isRunning ? texts.working(job.title, job.stage) : texts.ended(job.title, texts.states[job.state]);
    if (text.textContent !== words) text.textContent = words;
    bar.hidden = !isRunning;
    if (job.progress === null) bar.removeAttribute("value");
    else bar.value = job.progress;
  });
}
