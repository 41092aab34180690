"""Prints a workbook or csv file of results as JSON, read with the standard library alone."""

import csv
import io
import json
import re
import sys
import xml.etree.ElementTree as tree
import zipfile

SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def unescaped(text):
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found.group(1), 16)), text)


def column(reference):
    number = 0
    for letter in re.match("[A-Z]+", reference).group():
        number = 26 * number + ord(letter) - 64
    return number - 1


def cells(row):
    out = []
    for cell in row.iter(SHEET + "c"):
        at = column(cell.get("r"))
        out += [None] * (at - len(out))
        text = cell.find(f"{SHEET}is/{SHEET}t")
        out.append(float(cell.find(SHEET + "v").text) if text is None else unescaped(text.text or ""))
    return out


def workbook(data):
    archive = zipfile.ZipFile(io.BytesIO(data))
    assert archive.testzip() is None
    parts = {name: tree.fromstring(archive.read(name)) for name in archive.namelist()}
    types = {part.get("PartName") for part in parts["[Content_Types].xml"] if part.get("PartName")}
    assert types == {"/" + name for name in parts if name.startswith("xl/") and not name.endswith(".rels")}, types
    targets = {one.get("Id"): "xl/" + one.get("Target") for one in parts["xl/_rels/workbook.xml.rels"]}
    sheets = {}
    for sheet in parts["xl/workbook.xml"].iter(SHEET + "sheet"):
        rows = list(parts[targets[sheet.get(RELATION)]].iter(SHEET + "row"))
        assert [row.get("r") for row in rows] == [str(i + 1) for i in range(len(rows))]
        bold = [i for i, row in enumerate(rows) if any(cell.get("s") == "1" for cell in row)]
        sheets[sheet.get("name")] = {"rows": [cells(row) for row in rows], "bold": bold}
    return sheets


data = sys.stdin.buffer.read()
if data[:2] == b"PK":
    print(json.dumps(workbook(data)))
else:
    print(json.dumps(list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))))
