// Checks of values that messages bring: known members, known values, bounded sizes. Each check returns a value that
// holds nothing but what it has looked at.

/** A message that is not what it must be. Its text is the rest of a sentence, and names the member. */
export class SchemaFault extends Error {
  override readonly name = 'SchemaFault';
}

/** @param name of the member, for the fault @throws SchemaFault */
export type Check<T> = (value: unknown, name: string) => T;

type Shape = Readonly<Record<string, Check<unknown>>>;
type Checked<S extends Shape> = { readonly [name in keyof S]: ReturnType<S[name]> };

const MOST_QUOTED = 40;
const SURROGATE = /\p{Surrogate}/u;
const MOST_PATH_BYTES = 4096;
const MOST_NAME_BYTES = 255;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * The value of a message in JSON.
 * @throws SchemaFault for one that is larger, and one that is none
 */
export function jsonIn(bytes: Uint8Array, mostBytes: number): unknown {
  if (bytes.length > mostBytes)
    throw new SchemaFault(`it has ${bytes.length} bytes, and may have ${mostBytes}`);
  try {
    return JSON.parse(decoder.decode(bytes)) as unknown;
  } catch (cause) {
    throw new SchemaFault('it is no JSON', { cause });
  }
}

/** An object with these members and no others. @param optional members that may be missing */
export function object<S extends Shape, O extends Shape = Record<never, never>>(
  shape: S,
  optional?: O,
): Check<Checked<S> & Partial<Checked<O>>> {
  const known = new Map(Object.entries({ ...shape, ...optional }));
  return (value, name) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new SchemaFault(`${name} must be an object`);
    const prefix = name === 'it' ? '' : `${name}.`;
    for (const member of Object.keys(value))
      if (!known.has(member))
        throw new SchemaFault(`${name} has a member ${quoted(member)}, which is unknown`);
    const read: [string, unknown][] = [];
    for (const [member, check] of known) {
      if (Object.hasOwn(value, member))
        read.push([member, check((value as Record<string, unknown>)[member], `${prefix}${member}`)]);
      else if (Object.hasOwn(shape, member)) throw new SchemaFault(`${prefix}${member} is missing`);
    }
    return Object.fromEntries(read) as Checked<S> & Partial<Checked<O>>;
  };
}

/** A text of whole characters. @param form that all of it has */
export const text =
  (mostLength: number, form?: RegExp): Check<string> =>
  (value, name) => {
    if (typeof value !== 'string') throw new SchemaFault(`${name} must be a text`);
    if (value.length > mostLength)
      throw new SchemaFault(`${name} has ${value.length} characters, and may have ${mostLength}`);
    if (SURROGATE.test(value)) throw new SchemaFault(`${name} has half a character`);
    if (form !== undefined && !form.test(value))
      throw new SchemaFault(`${name} must not be ${quoted(value)}: it must be as ${form.source}`);
    return value;
  };

/** A whole number. */
export const whole =
  (least: number, most = Number.MAX_SAFE_INTEGER): Check<number> =>
  (value, name) => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most)
      return value;
    throw new SchemaFault(`${name} must be a whole number from ${least} to ${most}`);
  };

/** A number from 0. */
export const amount: Check<number> = (value, name) => {
  if (typeof value === 'number' && value >= 0 && value <= Number.MAX_VALUE) return value;
  throw new SchemaFault(`${name} must be a number from 0`);
};

export const flag: Check<boolean> = (value, name) => {
  if (typeof value === 'boolean') return value;
  throw new SchemaFault(`${name} must be true or false`);
};

export const oneOf =
  <const W extends readonly string[]>(words: W): Check<W[number]> =>
  (value, name) => {
    const word: W[number] | undefined = words.find((each) => each === value);
    if (word === undefined) throw new SchemaFault(`${name} must be one of ${words.join(', ')}`);
    return word;
  };

export const orNull =
  <T>(check: Check<T>): Check<T | null> =>
  (value, name) =>
    value === null ? null : check(value, name);

export const list =
  <T>(check: Check<T>, most: number): Check<T[]> =>
  (value, name) => {
    if (!Array.isArray(value)) throw new SchemaFault(`${name} must be a list`);
    if (value.length > most)
      throw new SchemaFault(`${name} has ${value.length} entries, and may have ${most}`);
    return value.map((each, i) => check(each, `${name}[${i}]`));
  };

/**
 * The name of a file relative to a folder, with slashes: no empty step, no `.` and no `..`, so that it leads below the
 * folder. Links are another matter: whoever opens the file has to look where they lead.
 */
export const relativePath: Check<string> = (value, name) => {
  const path = text(MOST_PATH_BYTES)(value, name);
  const refuse = (reason: string): never => {
    throw new SchemaFault(`${name} must not be ${quoted(path)}: ${reason}`);
  };
  if (Buffer.byteLength(path) > MOST_PATH_BYTES) refuse(`it has more than ${MOST_PATH_BYTES} bytes`);
  if (path.includes('\0')) refuse('it holds the character 0');
  for (const step of path.split('/')) {
    if (step === '' || step === '.' || step === '..')
      refuse('each step must be a name, with one slash between two');
    if (Buffer.byteLength(step) > MOST_NAME_BYTES) refuse(`a name has more than ${MOST_NAME_BYTES} bytes`);
  }
  return path;
};

const quoted = (value: string): string =>
  JSON.stringify(value.length > MOST_QUOTED ? `${value.slice(0, MOST_QUOTED)}…` : value);
