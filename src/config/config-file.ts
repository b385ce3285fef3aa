// The configuration file: lines `HEXCODES_NAME=value`, as systemd (EnvironmentFile=) and `docker --env-file` read them
// too. Blank lines and lines that begin with # are left out; quotes around a whole value are taken off; there are no
// escapes.
import { readFileSync } from 'node:fs';

/** A value with the line that gave it. */
export interface FileLine {
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

export interface ConfigFile {
  readonly path: string;
  /** Lines by variable. */
  readonly lines: ReadonlyMap<string, FileLine>;
  /** A sentence for each line that is none; values are never repeated. */
  readonly faults: readonly string[];
}

const ASSIGNMENT = /^([A-Z][A-Z0-9_]*)\s*=\s*(.*)$/;

/** A file that cannot be read has a fault, and no lines. */
export function readConfigFile(path: string): ConfigFile {
  try {
    return { path, ...parseConfig(path, readFileSync(path, 'utf8')) };
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const why =
      code === 'ENOENT' ? 'is not there' : code === 'EISDIR' ? 'is a folder' : `cannot be read: ${code}`;
    return { path, lines: new Map(), faults: [`the configuration file ${path} ${why}`] };
  }
}

function parseConfig(path: string, text: string): Omit<ConfigFile, 'path'> {
  const lines = new Map<string, FileLine>();
  const faults: string[] = [];
  for (const [at, row] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = at + 1;
    const content = row.trim();
    if (content === '' || content.startsWith('#')) continue;
    const match = ASSIGNMENT.exec(content);
    const variable = match?.[1] ?? '';
    const earlier = lines.get(variable);
    if (match === null) faults.push(`${path}:${line} is neither HEXCODES_NAME=value nor a comment`);
    else if (earlier !== undefined)
      faults.push(`${path}:${line} ${variable} stands in line ${earlier.line} already`);
    else lines.set(variable, { text: unquoted(match[2] as string), line });
  }
  return { lines, faults };
}

function unquoted(text: string): string {
  return /^(["'])(.*)\1$/.exec(text)?.[2] ?? text;
}
