// Texts that tell a Linux desktop about the app.

/** The desktop entry: the app in the menu, and the files it opens. */
export function desktopEntry({ name, title, summary, fileTypes }) {
  return `[Desktop Entry]
Type=Application
Name=${title}
Comment=${summary}
Exec=${name} %F
Icon=${name}
Terminal=false
Categories=Science;
MimeType=${fileTypes.map(({ mimeType }) => `${mimeType};`).join("")}
StartupWMClass=${name}
StartupNotify=true
`;
}

/** First bytes of files; where several types share an extension they decide. */
const MAGIC = { las: "LASF", laz: "LASF", e57: "ASTM-E57", ply: "ply", pcd: "# .PCD" };

/** The MIME types of the files, for the shared database of desktops. */
export function mimeTypes({ fileTypes }) {
  const types = fileTypes.map(({ ext, name, mimeType }) => {
    const magic = MAGIC[ext]
      ? `\n    <magic priority="60"><match type="string" offset="0" value="${MAGIC[ext]}"/></magic>`
      : "";
    return `  <mime-type type="${mimeType}">
    <comment>${name}</comment>${magic}
    <glob pattern="*.${ext}" weight="60"/>
  </mime-type>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
${types.join("\n")}
</mime-info>
`;
}
