/** A network of one operator, logits = features, for trying a device out; test/support/ml/onnx-bytes.ts makes it, too. */
export const PROBE_MODEL: Uint8Array = Buffer.from(
  "CAgSADpXChwKCGZlYXR1cmVzEgZsb2dpdHMiCElkZW50aXR5EgVwcm9iZVoYCghmZWF0dXJlcxIMCgoIARIGCgAKAggBYhYKBmxvZ2l0cxIMCgoIARIGCgAKAggBQgQKABAR",
  "base64",
);
