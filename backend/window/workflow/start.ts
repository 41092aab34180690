import type { Client } from "../../../shared/client/index.ts";
import { OPERATIONS } from "../operations/index.ts";
import type { Strings } from "../strings.ts";
import type { CloudView } from "../view/cloud-view.ts";
import { Clouds } from "./clouds.ts";
import { cloudsPanel } from "./clouds-panel.ts";
import { Connection } from "./connection.ts";
import { connectionLine } from "./connection-line.ts";
import { byId } from "./dom.ts";
import { editBar } from "./edit-bar.ts";
import { Edits } from "./edits.ts";
import { isLost, Jobs, sentenceOf } from "./jobs.ts";
import { jobsPanel } from "./jobs-panel.ts";
import { TabMemory } from "./memory.ts";
import { Notices } from "./notices.ts";
import { type DesktopBridge, desktopOf } from "./open-files.ts";
import { openPanel } from "./open-panel.ts";
import { operationsPanel } from "./operations-panel.ts";
import { openProject } from "./project.ts";
import { resultsPanel } from "./results-panel.ts";
import { Scene, type TreeList } from "./scene.ts";
import { sessionToolbar } from "./session-toolbar.ts";
import { TreeChoice } from "./tree-choice.ts";
import { TreePanel } from "./tree-panel.ts";
import { UnsavedWork } from "./unsaved-work.ts";

/** What the parts around the view are made of. */
export interface WorkflowParts {
  readonly client: Client;
  readonly view: CloudView;
  readonly strings: Strings;
  /** The page; elements are looked up by the ids of index.html. */
  readonly page: Document;
  /** Access token of the service; undefined where it asks for none. */
  readonly token: string | undefined;
}

/** Fills the panels around the view and connects them with the service. */
export function startWorkflow({ client, view, strings, page }: WorkflowParts): void {
  const texts = strings.workflow;
  const notices = new Notices(byId(page, "notices"), texts.notices);
  const memory = new TabMemory(sessionStorage, () => notices.add("warning", texts.connection.memoryFull));
  const scene = new Scene();
  const unsaved = new UnsavedWork();
  const jobs = new Jobs((title, error) => {
    connection.noticed(error);
    notices.add("error", title, [sentenceOf(error)]);
  });
  const onFailure = (error: unknown) => connection.noticed(error);
  const clouds = new Clouds({ client, view, jobs, memory, texts: texts.clouds, onFailure });
  const edits = new Edits({
    client,
    memory,
    onChanged: (sessionIds) => {
      unsaved.changed();
      void clouds.learn();
      for (const id of sessionIds) void clouds.renew(id);
    },
    onFailure: (error) => {
      connection.noticed(error);
      if (!isLost(error)) notices.add("error", texts.edits.failed, [sentenceOf(error)]);
    },
    onPending: () => notices.add("warning", texts.connection.pending),
    onNoUndo: (why) => notices.add("warning", why === "elsewhere" ? texts.edits.elsewhere : texts.edits.tooOld),
  });
  const desktop = desktopOf(window);
  const tellUnsaved = unsavedTeller(unsaved, memory, clouds, desktop);
  const connection = new Connection(client, async () => {
    await clouds.refresh();
    tellUnsaved();
    await edits.resume(clouds.list.value.flatMap(({ summary }) => (summary ? [summary] : [])));
  });
  rememberTrees(scene, memory, clouds);
  edits.history.follow(({ pending, waiting }) => {
    if (pending !== null || waiting.length > 0) unsaved.changed();
  });
  const noteEmpty = () => unsaved.setEmpty(clouds.list.value.length === 0 && scene.objects.value.length === 0);
  clouds.list.follow(noteEmpty);
  scene.objects.follow(noteEmpty);
  clouds.closed.follow((id) => void (id !== null && edits.forget(id)));
  view.onProblem((message) => {
    notices.add("warning", message);
    connection.check();
  });

  view.onEvicted((sessionId) => void clouds.restore(sessionId));

  const results = resultsPanel(texts.results, clouds, texts.trees.stale);
  const trees = new TreePanel(new TreeChoice(view, scene, clouds), texts.trees);
  byId(page, "details-panel").append(trees.element, results.element);
  connectionLine(page, connection, texts.connection);
  const open = { client, clouds, scene, jobs, notices, texts, showAll: () => view.fit() };
  openPanel(
    page,
    { ...open, openProject: (path, run) => openProject(path, { client, view, clouds, scene, texts, run }) },
    desktop,
  );
  cloudsPanel({ page, clouds, scene, jobs, texts: texts.clouds });
  const operations = operationsPanel({
    page,
    client,
    view,
    clouds,
    scene,
    unsaved,
    jobs,
    notices,
    connection,
    desktop,
    texts,
    operations: OPERATIONS,
    onOutcome: results.add,
  });
  jobsPanel(page, jobs, texts.jobs);
  editBar({ page, view, clouds, edits, texts: texts.edits });
  sessionToolbar(page, edits, () => operations.reveal("save"), texts.edits);
  connection.check();
}

/**
 * The returned function tells the desktop app from now on whether there is work that no project has. Call it when the
 * clouds are known: those of an earlier page count as work unless this tab remembers that a project has them.
 */
function unsavedTeller(
  unsaved: UnsavedWork,
  memory: TabMemory,
  clouds: Clouds,
  desktop: DesktopBridge | undefined,
): () => void {
  let isTelling = false;
  return () => {
    if (isTelling) return;
    isTelling = true;
    const isSaved = memory.read("unsaved", (value) => typeof value === "boolean") === false;
    if (!isSaved && clouds.list.value.some(({ octree }) => octree === null)) unsaved.changed();
    unsaved.is.follow((is) => {
      memory.write("unsaved", is);
      desktop?.tellUnsaved(is);
    });
  };
}

const isTreeList = (value: unknown): value is TreeList =>
  typeof value === "object" && value !== null && "trees" in value && Array.isArray(value.trees);

/** The tree list survives a reload of the page, and goes with its cloud. */
function rememberTrees(scene: Scene, memory: TabMemory, clouds: Clouds): void {
  const before = memory.read("trees", isTreeList);
  if (before) scene.trees.set(before);
  scene.trees.follow((list) => memory.write("trees", list));
  clouds.closed.follow((sessionId) => {
    if (sessionId !== null && scene.trees.value?.session_id === sessionId) scene.trees.set(null);
  });
}
