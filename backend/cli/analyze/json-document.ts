/** A result as the text of --json and summary.json. */
export const jsonDocument = (result: object): string => `${JSON.stringify(result, null, 2)}\n`;
