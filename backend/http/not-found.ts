import type { RouteOptions } from "fastify";
import type { App } from "./types.ts";

interface Known {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** Answers 404 for an unknown path, and 405 with an `Allow` header for a known path with the wrong method. */
export function installNotFound(app: App): void {
  const known = new Map<string, Known>();
  app.addHook("onRoute", (route: RouteOptions) => {
    if (route.url === "*") return; // the CORS plugin's preflight route matches every path
    const entry = known.get(route.url) ?? { pattern: patternOf(route.url), methods: new Set() };
    for (const method of [route.method].flat()) entry.methods.add(method);
    known.set(route.url, entry);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "";
    const allowed = new Set(
      [...known.values()].filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods]),
    );
    const declined = allowed.has(request.method); // the route exists and found nothing to answer with
    const status = allowed.size > 0 && !declined ? 405 : 404;
    if (status === 404) return reply.code(404).send({ detail: "Not Found", code: "not_found" });
    return reply
      .code(405)
      .header("allow", [...allowed].sort().join(", "))
      .send({ detail: "Method Not Allowed", code: "unsupported" });
  });
}

/** Converts a route URL to a path pattern: ":name" matches one segment, "*" the rest. */
function patternOf(url: string): RegExp {
  const source = url
    .split("/")
    .map((part) => (part.startsWith(":") ? "[^/]+" : part === "*" ? ".*" : part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")))
    .join("/");
  return new RegExp(`^${source}$`);
}
