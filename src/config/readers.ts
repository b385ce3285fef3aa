// Readers of the texts of settings that several settings share.
import { accessSync, constants } from 'node:fs';
import { Fault } from './setting.js';
import { isPortOfKubernetes } from './unknown-variables.js';

export const MIB = 1024 * 1024;
export const MOST_BYTES = 1_000_000 * MIB;
export const MOST_CONNECTIONS = 10_000_000;

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
  try {
    accessSync(path, constants.R_OK);
  } catch {
    throw new Fault(`names a file that cannot be read: ${path}`);
  }
  return path;
};

export const yesOrNo: Reader<boolean> = (text) => {
  if (text !== undefined && text !== 'true' && text !== 'false') throw new Fault('must be true or false');
  return text === 'true';
};
