/** A length in centimetres, or from 1 m on in metres. */
export const lengthText = (metres: number): string =>
  Math.abs(metres) < 1 ? `${(100 * metres).toFixed(1)} cm` : `${metres.toFixed(2)} m`;
