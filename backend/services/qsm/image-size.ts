/** Width and height of a picture, pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

const PNG_SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** Size of a PNG picture from its first chunk (ISO/IEC 15948, 11.2.2); null if the bytes are none. */
export function pngSize(bytes: Buffer): ImageSize | null {
  if (bytes.length < 24 || !bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return null;
  if (bytes.toString("latin1", 12, 16) !== "IHDR") return null;
  return positive({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) });
}

/** Markers of a JPEG file that start a frame (ITU-T T.81, table B.1): all SOFn but DHT, JPG and DAC. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
/** Markers without a segment. */
const isAlone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);

/** Size of a JPEG picture from its frame header; null if the bytes have none. */
export function jpegSize(bytes: Buffer): ImageSize | null {
  if (bytes.length < 4 || bytes[0] !== 0xff || bytes[1] !== 0xd8) return null;
  for (let at = 2; at + 4 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff || isAlone(marker)) {
      at += marker === 0xff ? 1 : 2;
      continue;
    }
    if (isFrame(marker)) {
      if (at + 9 > bytes.length) return null;
      return positive({ width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) });
    }
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2 || marker === 0xd9 || marker === 0xda) return null;
    at += 2 + length;
  }
  return null;
}

const positive = (size: ImageSize): ImageSize | null => (size.width > 0 && size.height > 0 ? size : null);
