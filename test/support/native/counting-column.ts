import type { ColumnSource } from "../../../backend/http/frame.ts";

/** A column of `length` u32 0, 1, 2, ... that counts its owners. */
export class CountingColumn implements ColumnSource {
  owners = 1;
  reads = 0;
  constructor(readonly length: number) {}
  readonly native = {
    readInto: (out: Uint8Array, byteOffset: number) => {
      if (this.owners === 0) throw new Error("read after the last release");
      this.reads += 1;
      const words = new Uint32Array(out.buffer, out.byteOffset, out.length / 4);
      for (let i = 0; i < words.length; i += 1) words[i] = byteOffset / 4 + i;
      return out.length;
    },
  };
  retain() {
    this.owners += 1;
  }
  release() {
    this.owners -= 1;
  }
}
