// The table of docs/reference/values.md: what becomes of a value of each type in each format. Every cell is observed:
// files of independent writers are encoded, and independent readers read the outputs. A cell that would be a silent
// change throws.

/** A type of an input format, with the values of two rows as text; the third row is null. */
export interface TypeCase {
  readonly name: string;
  readonly texts: readonly [string, string];
  /** `text` where JSON has the values as strings, `bare` where it has the texts themselves, else its spelling. */
  readonly json: 'text' | 'bare' | readonly [string, string];
}

/** A column as a reader found it: the name of its type, and the values of three rows. */
export interface Observed {
  readonly type: string;
  readonly values: readonly (string | null)[];
}

/** A cell of the table. */
export type Cell = string;

/**
 * The cell of a target with types: `exact`, `as TYPE`, or text with the first value.
 * @param input what the reader finds in the input
 * @throws Error for a changed value
 */
export function typedCell({ name, texts, json }: TypeCase, input: Observed, found: Observed): Cell {
  const { type, values } = found;
  const isSame = (wanted: readonly (string | null)[]): boolean =>
    JSON.stringify(wanted) === JSON.stringify(values);
  // Readers do not tell the type of a column of nulls.
  if (isSame([null, null, null]) && isSame(input.values)) return 'null';
  if (isSame(input.values) && type === input.type) return 'exact';
  if (type === 'VARCHAR' && isSame([...texts, null])) return `text ${code(texts[0])}`;
  const members = jsonOf(texts, json);
  if ((type === 'VARCHAR' || type === 'JSON') && isSame([...members, null])) {
    return `${type === 'JSON' ? 'JSON' : 'text'} ${code(members[0]!)}`;
  }
  if (type !== 'VARCHAR' && type !== 'JSON' && isSame(input.values)) return `as ${type}`;
  throw new Error(`${name} is ${type} ${JSON.stringify(values)}: was ${JSON.stringify(input)} or ${texts}`);
}

/** The cell of CSV. @throws Error for a changed value */
export function textCell({ name, texts }: TypeCase, values: readonly string[]): Cell {
  if (JSON.stringify(values) === JSON.stringify([...texts, ''])) return code(texts[0]);
  throw new Error(`${name} is ${JSON.stringify(values)}, not ${JSON.stringify(texts)}`);
}

/** The cell of JSON. @param values the JSON text of the members. @throws Error for a changed value */
export function jsonCell({ name, texts, json }: TypeCase, values: readonly string[]): Cell {
  const wanted = jsonOf(texts, json);
  if (JSON.stringify(values) === JSON.stringify([...wanted, 'null'])) return code(wanted[0]!);
  throw new Error(`${name} is ${JSON.stringify(values)}, not ${JSON.stringify(wanted)}`);
}

function jsonOf(texts: TypeCase['texts'], json: TypeCase['json']): readonly string[] {
  if (json === 'bare') return texts;
  return json === 'text' ? texts.map((text) => JSON.stringify(text)) : json;
}

function code(text: string): string {
  return text === '' ? 'empty' : `\`${text.replaceAll('|', '\\|')}\``;
}

/** A table of Markdown. */
export function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
