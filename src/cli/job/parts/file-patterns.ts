// Files by pattern, where no shell has put them in: `*` and `?` within a name, `**` for any number of folders.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { badInput } from '../../../files/file-faults.js';

/**
 * The files that paths and patterns name, each once, sorted by name.
 * @throws CliFailure BAD_INPUT for a path or a pattern without a file
 */
export function filesOf(patterns: readonly string[]): string[] {
  const found = new Set<string>();
  for (const pattern of patterns) {
    const paths = existsSync(pattern) ? [pattern] : fitting(pattern);
    if (paths.length === 0) throw badInput({ file: pattern }, 'there is no such file');
    for (const path of paths) {
      if (statSync(path).isDirectory())
        throw badInput({ file: path }, 'it is a folder', `Name its files: '${join(path, '*.csv')}'.`);
      found.add(path);
    }
  }
  return [...found].sort();
}

function fitting(pattern: string): string[] {
  const words = pattern.split('/').filter((word, i) => word !== '' || i === 0);
  if (!words.some((word) => /[*?]/.test(word))) return [];
  const isAbsolute = words[0] === '';
  return below(isAbsolute ? '/' : '', isAbsolute ? words.slice(1) : words);
}

/** Files below a folder that fit the words of a pattern; those with a dot in front only where the word has it. */
function below(folder: string, [word, ...rest]: readonly string[]): string[] {
  if (word === undefined) return [];
  const entryPath = (name: string): string => (folder === '' ? name : join(folder, name));
  if (word !== '**' && !/[*?]/.test(word)) {
    const path = entryPath(word);
    if (!existsSync(path)) return [];
    return rest.length === 0 ? filesAmong([path]) : below(path, rest);
  }
  const entries = foldersAndFiles(folder);
  if (word === '**') {
    const inner = entries.filter(({ name, isFolder }) => isFolder && !name.startsWith('.'));
    const here = below(folder, rest.length === 0 ? ['*'] : rest);
    return [...here, ...inner.flatMap(({ name }) => below(entryPath(name), [word, ...rest]))];
  }
  const fits = new RegExp(
    `^${word
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    'su',
  );
  const paths = entries
    .filter(({ name }) => fits.test(name) && (word.startsWith('.') || !name.startsWith('.')))
    .map(({ name }) => entryPath(name));
  return rest.length === 0 ? filesAmong(paths) : paths.flatMap((path) => below(path, rest));
}

const filesAmong = (paths: readonly string[]): string[] =>
  paths.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);

function foldersAndFiles(folder: string): { name: string; isFolder: boolean }[] {
  try {
    const entries = readdirSync(folder === '' ? '.' : folder, { withFileTypes: true });
    return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  } catch {
    return [];
  }
}
