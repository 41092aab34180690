// A Debian package of an unpacked app: the app in /opt, its entries in the folders of the desktop.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "../fingerprint.mjs";
import { desktopEntry, mimeTypes } from "./desktop.mjs";
import { dependsOf } from "./libraries.mjs";
import { sizeOf } from "./sizes.mjs";

const ARCHITECTURES = { x64: "amd64", arm64: "arm64" };

/** Loaded where they are there: graphics cards, file types of the desktop, notices. */
const RECOMMENDS = [
  "libgl1",
  "libegl1",
  "libxcursor1",
  "libnotify4",
  "shared-mime-info",
  "desktop-file-utils",
  "xdg-utils",
];

/** Name of the file. */
export const debName = ({ name, version }, arch) => `${name}_${version}_${ARCHITECTURES[arch]}.deb`;

/** Writes the package of `app` to `target`; `staging` is an empty folder's path. Errors: dpkg-deb is missing or refuses. */
export function writeDeb({ app, target, staging, identity, arch, time }) {
  rmSync(staging, { recursive: true, force: true });
  const { name } = identity;
  const put = (path, content) => {
    mkdirSync(join(staging, dirname(path)), { recursive: true });
    writeFileSync(join(staging, path), content);
  };
  cpSync(app, join(staging, "opt", name), { recursive: true });
  put(`usr/share/applications/${name}.desktop`, desktopEntry(identity));
  put(`usr/share/mime/packages/${name}.xml`, mimeTypes(identity));
  const icons = join(root, "resources", "icons");
  for (const file of readdirSync(icons).filter((entry) => /^\d+x\d+\.png$/.test(entry)))
    put(`usr/share/icons/hicolor/${file.replace(".png", "")}/apps/${name}.png`, readFileSync(join(icons, file)));
  put(`usr/share/doc/${name}/copyright`, copyright(identity));
  const zipped = (text) => gzipSync(text, { level: 9 });
  put(`usr/share/doc/${name}/changelog.gz`, zipped(changelog(identity, time)));
  put(`usr/share/doc/${name}/CHANGELOG.md.gz`, zipped(readFileSync(join(root, "CHANGELOG.md"))));
  mkdirSync(join(staging, "usr", "bin"));
  // Absolute, as the policy wants between top folders: /usr may lie elsewhere.
  symlinkSync(`/opt/${name}/${name}`, join(staging, "usr", "bin", name));
  setModes(staging);
  // The helper of the sandbox for kernels that refuse namespaces to users: it must be root's and start as root.
  chmodSync(join(staging, "opt", name, "chrome-sandbox"), 0o4755);
  put("DEBIAN/control", control(identity, arch, staging));
  put("DEBIAN/md5sums", checksums(staging));
  setModes(join(staging, "DEBIAN"));
  const { status, stderr, error } = spawnSync(
    "dpkg-deb",
    ["--root-owner-group", "-Zzstd", "-z12", "--build", staging, target],
    {
      encoding: "utf8",
      env: { ...process.env, SOURCE_DATE_EPOCH: String(time) },
    },
  );
  if (status !== 0) throw new Error(`dpkg-deb did not write ${target}: ${error?.message ?? stderr.trim()}`);
  rmSync(staging, { recursive: true, force: true });
}

function control({ name, version, summary, homepage, maintainer }, arch, staging) {
  return `Package: ${name}
Version: ${version}
Architecture: ${ARCHITECTURES[arch]}
Maintainer: ${maintainer}
Installed-Size: ${Math.ceil(sizeOf(staging) / 1024)}
Depends: ${dependsOf(join(staging, "opt", name)).join(", ")}
Recommends: ${RECOMMENDS.join(", ")}
Section: science
Priority: optional
Homepage: ${homepage}
Description: ${summary}
 Reads scans of forests and plants (LAS, LAZ, E57, PTX, PLY, PCD), shows them
 and finds ground, trees, stems, wood and leaves in them. Every edit is kept on
 disk: nothing is lost when the program ends early.
`;
}

/** Debian's form, which its tools read; what changed is in the file beside it. */
const changelog = ({ name, version, maintainer }, time) => `${name} (${version}) unstable; urgency=medium

  * Changes: /usr/share/doc/${name}/CHANGELOG.md.gz

 -- ${maintainer}  ${new Date(1000 * time).toUTCString().replace("GMT", "+0000")}
`;

const copyright = ({
  name,
  title,
  homepage,
}) => `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ${title}
Source: ${homepage}
Comment: The licences of all parts are in /opt/${name}/LICENSES.txt, those of Electron and
 Chromium in LICENSE.electron.txt and LICENSES.chromium.html beside it.

Files: *
Copyright: 2026 The point-cloud-backend authors
License: Expat
${readFileSync(join(root, "LICENSE"), "utf8")
  .split("\n")
  .slice(4)
  .join("\n")
  .trimEnd()
  .replaceAll(/^/gm, " ")
  .replaceAll(/^ $/gm, " .")}
`;

/** Folders and programs 755, other files and libraries 644, whatever the builder's umask was. */
function setModes(path) {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  const isLibrary = /\.(node|so(\.\d+)*)$/.test(path);
  const isExecutable = stat.isDirectory() || (!isLibrary && (stat.mode & 0o100) !== 0);
  chmodSync(path, isExecutable ? 0o755 : 0o644);
  if (stat.isDirectory()) for (const name of readdirSync(path)) setModes(join(path, name));
}

function checksums(staging) {
  const lines = [];
  const visit = (path) => {
    for (const entry of readdirSync(join(staging, path), { withFileTypes: true })) {
      const inner = path === "" ? entry.name : `${path}/${entry.name}`;
      if (inner === "DEBIAN") continue;
      if (entry.isDirectory()) visit(inner);
      else if (entry.isFile())
        lines.push(
          `${createHash("md5")
            .update(readFileSync(join(staging, inner)))
            .digest("hex")}  ${inner}\n`,
        );
    }
  };
  visit("");
  return lines.sort((a, b) => (a.slice(34) < b.slice(34) ? -1 : 1)).join("");
}
