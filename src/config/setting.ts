// A setting: a variable, usually a flag, a line of help, and a reader that converts its text to a value.

// Finds variables that look like settings and are not: usually misspelled ones, which would silently leave the
// default in force.

import { accessSync, constants, readFileSync, statSync } from 'node:fs';

export const MIB = 1024 * 1024;
export const MAX_BYTES = 1_000_000 * MIB;
export const MAX_CONNECTIONS = 10_000_000;

/** A Service named `hexcodes` gives its pods a variable HEXCODES_PORT of another meaning. */
const KUBERNETES_HINT = "; this one is Kubernetes' own: set enableServiceLinks: false in the pod";

type Reader<T> = (text: string | undefined) => T;

export const textOr =
  <D extends string | undefined>(fallback: D): Reader<string | D> =>
  (text) => {
    if (text === '') throw new Fault('is empty');
    return text ?? fallback;
  };

export const integerOr =
  <D extends number | undefined>(fallback: D, least: number, most: number): Reader<number | D> =>
  (text) => {
    if (text === undefined) return fallback;
    const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    const hint = isPortOfKubernetes(text) ? KUBERNETES_HINT : '';
    throw new Fault(`must be an integer from ${least} to ${most}${hint}`);
  };

export const oneOf =
  <W extends string>(words: readonly W[], fallback: W): Reader<W> =>
  (text) => {
    const word = words.find((w) => w === (text ?? fallback));
    if (word === undefined) throw new Fault(`must be one of ${words.join(', ')}`);
    return word;
  };

/** The path of a file that can be read, undefined if none is given. */
export const readablePath: Reader<string | undefined> = (text) => {
  const path = textOr(undefined)(text);
  if (path === undefined) return undefined;
  if (!isReadable(path)) throw new Fault(`names a file that cannot be read: ${path}`);
  return path;
};

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return !statSync(path).isDirectory();
  } catch {
    return false;
  }
}

// Addresses of other programs' servers. Messages do not repeat them, because they may hold a password.

const HOST_AND_PORT = /^(?:[^\s/:?#@,[\]]+|\[[\da-f:.]+\])(?::(\d{1,5}))?$/i;
export const MAX_PORT = 65_535;

/** Whether a text is a host, or an address of IPv6 in brackets, with a port or without. */
export function isHostAndPort(text: string): boolean {
  const [all, port = '1'] = HOST_AND_PORT.exec(text) ?? [];
  return all !== undefined && Number(port) > 0 && Number(port) <= MAX_PORT;
}

/** Parameters of libpq that name files. */
const DATABASE_FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/**
 * Checks an address of PostgreSQL, which the driver pg reads. Its host may be left out.
 * @throws Fault
 */
export function requireDatabase(text: string): void {
  if (!/^postgres(ql)?:\/\//.test(text)) throw new Fault('must begin with postgres://');
  const full = text.replaceAll(' ', '%20').replace(/^([a-z]+:\/\/(?:[^@/]*@)?)(?=\/|$)/, '$1localhost');
  const url = URL.canParse(full) ? new URL(full) : undefined;
  // A slash in a password would shift its end, and the @ after it, into the path.
  if (url === undefined || !isHostAndPort(url.host) || url.hash !== '' || url.pathname.includes('@'))
    throw new Fault(
      'must be an address as postgres://user:password@host:5432/database, in whose password / ? # are %2F %3F %23',
    );
  for (const name of DATABASE_FILES) {
    const path = url.searchParams.get(name);
    if (path !== null && !isReadable(path))
      throw new Fault(`names a file that cannot be read, as ${name}: ${path}`);
  }
}

export const yesOrNo: Reader<boolean> = (text) => {
  if (text !== undefined && text !== 'true' && text !== 'false') throw new Fault('must be true or false');
  return text === 'true';
};

/**
 * Variables of our programs that are not settings of the service: clients in examples, the command's files, and a
 * test.
 */
const OF_OTHERS = ['HEXCODES_KEY', 'HEXCODES_CHECKPOINT_BYTES', 'HEXCODES_READ_MEMORY'];

/** Kubernetes sets these in every pod beside a Service whose name begins with `hexcodes`. */
const OF_KUBERNETES = /_SERVICE_(HOST|PORT)(_\w+)?$|_PORT(_\d+_(TCP|UDP)(_\w+)?)?$/;

const MAX_SLIPS = 3;

/** One sentence for each variable of the prefix that is unknown. */
export function unknownVariables(
  known: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('HEXCODES_') && !known.includes(name) && !OF_OTHERS.includes(name))
    .filter((name) => !(OF_KUBERNETES.test(name) && isServiceLink(name, env[name])))
    .map((name) => unknownVariable(known, name));
}

/** @param where a prefix of the name: the line of a file */
export function unknownVariable(known: readonly string[], name: string, where = ''): string {
  const near = known
    .map((variable) => ({ variable, slips: slipsBetween(variable, name) }))
    .sort((a, b) => a.slips - b.slips)[0];
  const hint = near !== undefined && near.slips <= MAX_SLIPS ? `; did you mean ${near.variable}?` : '';
  return `${where}${name} is not a setting${hint}`;
}

/** The value that Kubernetes gives to the variable `NAME_PORT` of a Service. */
export function isPortOfKubernetes(text: string): boolean {
  return /^(tcp|udp):\/\//.test(text);
}

function isServiceLink(name: string, text = ''): boolean {
  return /_PORT$/.test(name) ? isPortOfKubernetes(text) : true;
}

/** Letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function slipsBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let slips = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) slips = Math.min(slips, beforeLast[j - 2]! + 1);
      row.push(slips);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

export interface Setting<T> {
  readonly variable: string;
  /** A standard variable that gives the setting if nothing else does. */
  readonly standardVariable?: string;
  /** Argument of the flag, as help shows it; absent for a flag without an argument, which means `true`. */
  readonly argument?: string;
  /** Default: of a setting with an argument the variable's name. Secrets have none: every user can read arguments. */
  readonly flag?: string;
  /** Its value is never shown. */
  readonly isSecret?: boolean;
  /** The text in a form that may be shown, if a part of it may be secret. */
  readonly shown?: (text: string) => string;
  readonly help: string;
  /** The value of a text, undefined if none is given. Throws a Fault, whose message follows the name of the setting. */
  readonly read: (text: string | undefined) => T;
}

/** The flag of a setting, if it has one. */
export const flagOf = ({ flag, argument, variable }: Setting<unknown>): string | undefined =>
  flag ?? (argument && `--${variable.slice('HEXCODES_'.length).toLowerCase().replaceAll('_', '-')}`);

/** An object without its members that are undefined. */
export const definedOf = <T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;

/** The content of a file; undefined where none is named. @throws Fault */
export function contentOf(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new Fault(`names a file that cannot be read: ${path}`);
  }
}

/** The fault in the text of a setting; never repeats a secret. */
export class Fault extends Error {}

/** The values of some settings. */
export type ConfigOf<S> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};
