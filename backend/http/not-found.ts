import type { RouteOptions } from "fastify";
import type { App } from "./types.ts";

interface Known {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** 404 for an unknown path, 405 with `Allow` for a known path under another method. */
export function installNotFound(app: App): void {
  const known = new Map<string, Known>();
  app.addHook("onRoute", (route: RouteOptions) => {
    if (route.url === "*") return; // the preflight route of the CORS plugin answers every path
    const entry = known.get(route.url) ?? { pattern: patternOf(route.url), methods: new Set() };
    for (const method of [route.method].flat()) entry.methods.add(method);
    known.set(route.url, entry);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "";
    const allowed = new Set(
      [...known.values()].filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods]),
    );
    allowed.delete(request.method); // a route that matched but chose not to answer is a 404
    const status = allowed.size > 0 ? 405 : 404;
    if (status === 404) return reply.code(404).send({ detail: "Not Found", code: "not_found" });
    return reply
      .code(405)
      .header("allow", [...allowed].sort().join(", "))
      .send({ detail: "Method Not Allowed", code: "unsupported" });
  });
}

/** A route URL (":name" one segment, "*" the rest) as a pattern for paths. */
function patternOf(url: string): RegExp {
  const source = url
    .split("/")
    .map((part) => (part.startsWith(":") ? "[^/]+" : part === "*" ? ".*" : part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")))
    .join("/");
  return new RegExp(`^${source}$`);
}
