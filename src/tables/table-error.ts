// The one error of this workspace: a sentence about a file, and a remedy.

export class TableError extends Error {
  override readonly name = 'TableError';

  constructor(
    message: string,
    readonly hint?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

// Quotes for shells.

/** A text as one word of a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
