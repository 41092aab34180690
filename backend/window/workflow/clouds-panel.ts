import type { Strings } from "../strings.ts";
import type { Cloud, Clouds } from "./clouds.ts";
import { ask } from "./dialog.ts";
import { button, byId, el, replaceChildren } from "./dom.ts";
import { count } from "./format.ts";
import type { Jobs } from "./jobs.ts";
import type { Scene, SceneObject } from "./scene.ts";

export interface CloudsPanelParts {
  readonly page: Document;
  readonly clouds: Clouds;
  readonly scene: Scene;
  readonly jobs: Jobs;
  readonly texts: Strings["workflow"]["clouds"];
}

/** The list of clouds, with the one to work on, and of the other objects of the view. */
export function cloudsPanel(parts: CloudsPanelParts): void {
  const { page, clouds, scene, texts } = parts;
  const list = el("ul", { class: "items" });
  const objects = el("ul", { class: "items" });
  const objectsTitle = el("h3", {}, texts.objects);
  byId(page, "clouds-panel").append(el("h2", {}, texts.title), list, objectsTitle, objects);
  const draw = () => {
    const rows = clouds.list.value.map((cloud) => cloudRow(cloud, parts));
    replaceChildren(list, ...(rows.length > 0 ? rows : [el("li", { class: "help" }, texts.none)]));
  };
  clouds.list.follow(draw);
  clouds.selected.follow(draw);
  scene.objects.follow((shown) => {
    objectsTitle.hidden = shown.length === 0;
    replaceChildren(objects, ...shown.map((object) => objectRow(object, parts)));
  });
}

function cloudRow(cloud: Cloud, { page, clouds, jobs, texts }: CloudsPanelParts): HTMLElement {
  const { session_id, name, summary, octree } = cloud;
  const isOpen = summary?.is_open ?? true;
  const points = octree?.point_count ?? summary?.total_count;
  const problems = summary?.problems ?? [];
  const state = summary ? texts.states[summary.state] : "";
  const work = el("input", {
    type: "radio",
    name: "cloud",
    id: `cloud-${session_id}`,
    "data-key": `cloud-${session_id}`,
    checked: clouds.selected.value === session_id,
    disabled: !octree,
    "aria-label": texts.select(name),
    on: { change: () => clouds.selected.set(session_id) },
  });
  const close = () => void closeAfterQuestion(cloud, page, clouds, jobs, texts);
  return el(
    "li",
    { class: "item", "data-session": session_id },
    work,
    el(
      "label",
      { for: `cloud-${session_id}`, class: "item-name" },
      name,
      el(
        "small",
        {},
        [points === null || points === undefined ? "" : texts.points(count(points)), state].filter(Boolean).join(", "),
      ),
      ...problems.map((problem) => el("small", { class: "problem" }, problem)),
    ),
    octree
      ? el("input", {
          type: "checkbox",
          checked: cloud.is_visible,
          "data-key": `visible-${session_id}`,
          "aria-label": texts.visible(name),
          title: texts.visible(name),
          on: { change: (event) => clouds.setVisible(session_id, (event.target as HTMLInputElement).checked) },
        })
      : isOpen &&
          button(texts.show, () => void clouds.show(session_id), {
            "aria-label": texts.showHelp(name),
            "data-key": `show-${session_id}`,
          }),
    button("×", close, {
      class: "plain",
      "aria-label": texts.close(name),
      title: texts.close(name),
      "data-key": `close-${session_id}`,
    }),
  );
}

async function closeAfterQuestion(
  { session_id, name }: Cloud,
  page: Document,
  clouds: Clouds,
  jobs: Jobs,
  texts: CloudsPanelParts["texts"],
): Promise<void> {
  const question = {
    title: texts.closeQuestion(name),
    content: [el("p", {}, texts.closeText)],
    yes: texts.closeYes,
    no: texts.keep,
  };
  if (await ask(byId(page, "dialogs"), question)) await jobs.run(texts.close(name), () => clouds.close(session_id));
}

function objectRow({ id, source, shown }: SceneObject, { scene, texts }: CloudsPanelParts): HTMLElement {
  return el(
    "li",
    { class: "item" },
    el("span", { class: "item-name" }, source.name),
    el("input", {
      type: "checkbox",
      checked: shown.visible,
      "data-key": `object-${id}`,
      "aria-label": texts.visibleObject(source.name),
      on: { change: (event) => scene.setVisible(id, (event.target as HTMLInputElement).checked) },
    }),
    button("×", () => scene.remove(id), {
      class: "plain",
      "aria-label": texts.removeObject(source.name),
      "data-key": `remove-${id}`,
    }),
  );
}
