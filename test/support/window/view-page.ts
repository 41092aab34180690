import { byId } from "../../../backend/window/page.ts";
import { strings } from "../../../backend/window/strings.ts";
import { createCloudView } from "../../../backend/window/view/create-view.ts";
import { legendPanel } from "../../../backend/window/view/panels/legend-panel.ts";
import { profilePanel } from "../../../backend/window/view/panels/profile-panel.ts";
import { readingsPanel } from "../../../backend/window/view/panels/readings-panel.ts";
import { statsLine } from "../../../backend/window/view/panels/stats-line.ts";
import { toolOptions } from "../../../backend/window/view/panels/tool-options.ts";
import { viewToolbar } from "../../../backend/window/view/panels/toolbar.ts";
import { createClient } from "../../../shared/client/index.ts";

/* The page of the view's browser test: the view and its panels alone, with what they tell kept for the test. */

const told: Record<string, unknown[]> = { selection: [], measure: [], profile: [], pick: [], problem: [] };
const [baseUrl = "", token = ""] = decodeURI(location.hash.slice(1)).split(" ");
const client = createClient({ baseUrl, token });
const view = createCloudView(byId(document, "view"), {
  strings: strings.view,
  fetchOctreeFile: (cacheId, file, range, options) => client.octreeFile(cacheId, file, range, options),
});
viewToolbar(byId(document, "view-toolbar"), view, strings.view);
toolOptions(byId(document, "tool-options"), view, strings.view);
legendPanel(byId(document, "legend-panel"), view, strings.view);
readingsPanel(byId(document, "readings-panel"), view, strings.view);
profilePanel(byId(document, "profile-panel"), view, strings.view);
statsLine(byId(document, "stats-line"), view, strings.view);
view.onSelection((selection) => told.selection?.push(selection));
view.onMeasure((measurement) => told.measure?.push(measurement));
view.onProfile(({ points, colours, ...rest }) =>
  told.profile?.push({ ...rest, points: [...points], colours: [...colours] }),
);
view.onPick((point) => told.pick?.push(point));
view.onProblem((message) => told.problem?.push(message));
Object.assign(window, { view, client, told });
