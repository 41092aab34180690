"""Reads a project with the standard library alone: argv: path. Prints {member: [dtype, shape, sha256 of the values]}."""

import hashlib
import json
import struct
import sys
import zipfile
import zlib


def column(data):
    assert data[:6] == b"ZCOL\x01\n", data[:6]
    (length,) = struct.unpack_from("<I", data, 6)
    header = json.loads(data[10 : 10 + length])
    at = 10 + length
    size = int(header["dtype"][2:])
    width = 1
    for axis in header["shape"][1:]:
        width *= axis
    left = header["shape"][0]
    out = []
    while left > 0:
        rows = min(left, header["block_rows"])
        left -= rows
        (length,) = struct.unpack_from("<I", data, at)
        raw = zlib.decompress(data[at + 4 : at + 4 + length], wbits=-15)
        at += 4 + length
        assert len(raw) == rows * width * size
        out.append(unfiltered(raw, header["filter"], size, width))
    assert at == len(data)
    return header, b"".join(out)


def unfiltered(raw, name, size, width):
    if name == "none":
        return raw
    values = len(raw) // size
    out = bytearray(len(raw))
    for plane in range(size):
        out[plane::size] = raw[plane * values : (plane + 1) * values]
    if name == "shuffle":
        return bytes(out)
    assert name == "delta_shuffle"
    numbers = [int.from_bytes(out[i * size : (i + 1) * size], "little") for i in range(values)]
    for i in range(width, values):
        numbers[i] = (numbers[i] + numbers[i - width]) % (1 << (8 * size))
    return b"".join(number.to_bytes(size, "little") for number in numbers)


with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    found = {}
    for name in archive.namelist():
        data = archive.read(name)
        if name.endswith(".pz"):
            header, values = column(data)
            found[name] = [header["dtype"], header["shape"], hashlib.sha256(values).hexdigest()]
        elif name.endswith(".json"):
            found[name] = json.loads(data)
    print(json.dumps(found))
