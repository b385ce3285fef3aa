// Elements that have no column of their own as one JSON object: an element is its text, or an object of its attributes
// (`@name`), its elements and its text (`#text`); elements of one name are a list. Names are as the file writes them,
// with the prefixes of their namespaces.

import { TableError } from '../table-error.js';

type Members = Map<string, unknown>;

/** Approximate letters of all fields of one row. */
const MAX_LETTERS = 16 * 1024 * 1024;
/** Letters of a text that is repeated in many rows: the name of a track, the fields of a route. */
const MAX_REPEATED = 16 * 1024;

/** An element that is not closed yet, with its members where it has any. */
interface Open {
  name: string;
  members: Members | null;
  hasElements: boolean;
}

class Listed {
  readonly values: unknown[] = [];
}

export class XmlFields {
  readonly #root: Open = { name: '', members: null, hasElements: false };
  /** Open elements, and after them closed ones to be used again. */
  readonly #open: Open[] = [];
  #depth = 0;
  #letters = 0;

  /** Forgets all fields of a row that is done. */
  clear(): void {
    this.#root.members = null;
    this.#depth = 0;
    this.#letters = 0;
  }

  /** Elements that are open below the root. */
  get depth(): number {
    return this.#depth;
  }

  get #innermost(): Open {
    return this.#depth === 0 ? this.#root : this.#open[this.#depth - 1]!;
  }

  /** Whether the innermost open element is a text alone so far. */
  get isPlain(): boolean {
    const innermost = this.#innermost;
    return innermost.members === null && !innermost.hasElements;
  }

  /** Whether the innermost open element has attributes or elements that are kept. */
  get hasMembers(): boolean {
    return this.#innermost.members !== null;
  }

  /** Approximate letters so far. */
  get letters(): number {
    return this.#letters;
  }

  /** Adds a value to the innermost open element. */
  add(name: string, value: unknown): void {
    const innermost = this.#innermost;
    innermost.members ??= new Map();
    const { members } = innermost;
    const before = members.get(name);
    if (before === undefined) members.set(name, value);
    else if (before instanceof Listed) before.values.push(value);
    else {
      const listed = new Listed();
      listed.values.push(before, value);
      members.set(name, listed);
    }
    this.#letters += name.length + (typeof value === 'string' ? value.length : 0) + 8;
    if (this.#letters > MAX_LETTERS) throw new TableError('the fields of a row in it are longer than 16 MiB');
  }

  open(name: string, attributes: readonly (readonly [name: string, value: string])[]): void {
    this.#innermost.hasElements = true;
    const again = this.#open[this.#depth];
    if (again === undefined) this.#open.push({ name, members: null, hasElements: false });
    else {
      again.name = name;
      again.members = null;
      again.hasElements = false;
    }
    this.#depth++;
    for (const [attribute, value] of attributes)
      if (!/^xmlns(?::|$)/.test(attribute)) this.add(`@${attribute}`, value);
  }

  /** @param text of the element; null where it has a column of its own */
  close(text: string | null): void {
    const { name, members, hasElements } = this.#innermost;
    this.#depth--;
    const isBlank = text === null || text.trim() === '';
    if (members !== null) {
      if (!isBlank) members.set('#text', text);
      this.add(name, members);
    } else if (text !== null && !(isBlank && hasElements)) this.add(name, text);
  }

  /** The object as JSON; undefined where there is nothing in it. */
  json(): string | undefined {
    const { members } = this.#root;
    return members === null ? undefined : JSON.stringify(plain(members));
  }

  /** The object for another one. */
  value(): ReadonlyMap<string, unknown> | undefined {
    return this.#root.members ?? undefined;
  }
}

function plain(value: unknown): unknown {
  if (value instanceof Listed) return value.values.map(plain);
  return value instanceof Map
    ? Object.fromEntries([...value].map(([name, each]) => [name, plain(each)]))
    : value;
}

/** @throws TableError for a text that many rows repeat, and that would make them many times as long as the file */
export function requireShort(letters: number, what: string): void {
  if (letters > MAX_REPEATED) throw new TableError(`${what} is longer than ${MAX_REPEATED / 1024} KiB`);
}
