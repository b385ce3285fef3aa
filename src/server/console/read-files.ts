// Reads dist/console/, which the build makes: the page at `/`, its service worker, and the files that they ask for,
// each as it is and compressed twice.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { HexcodesData } from '../../hexcodes/library/hexcodes.js';

/** A file under /assets/. Its name holds a hash of its content. */
export interface ConsoleFile {
  readonly name: string;
  /** Media type. */
  readonly type: string;
  readonly plain: Uint8Array;
  readonly br: Uint8Array;
  readonly gzip: Uint8Array;
}

export interface ConsoleFiles {
  /** HTML with {{places}} for names of files. */
  readonly page: string;
  /** The script of the service worker. */
  readonly serviceWorker: string;
  readonly files: readonly ConsoleFile[];
  /** Names by their part in the page: `page`, `style`, `kernel`, `index`, … */
  readonly roles: Readonly<Record<string, string>>;
  /** Names of the scripts that the script of the page imports at once. */
  readonly imports: readonly string[];
}

const FOLDER = new URL('../../console/', import.meta.url);

/** @param data the boundaries of this service, which the page is to use, too */
export function readConsoleFiles(data: Pick<HexcodesData, 'index' | 'reach'>): ConsoleFiles {
  const list = JSON.parse(textOf('files.json')) as Pick<ConsoleFiles, 'roles' | 'imports'> & {
    files: Readonly<Record<string, string>>;
  };
  const roles: Record<string, string> = { ...list.roles };
  const own: ConsoleFile[] = [];
  for (const role of ['index', 'reach'] as const) {
    const shipped = roles[role] as string;
    if (Buffer.compare(bytesOf(`assets/${shipped}`), data[role]) === 0) continue;
    const file = compressed(role, list.files[shipped] as string, data[role]);
    roles[role] = file.name;
    own.push(file);
  }
  const names = Object.keys(list.files).filter(
    (name) => !Object.values(list.roles).includes(name) || Object.values(roles).includes(name),
  );
  const shipped = names.map(
    (name): ConsoleFile => ({
      name,
      type: list.files[name] as string,
      plain: bytesOf(`assets/${name}`),
      br: bytesOf(`assets/${name}.br`),
      gzip: bytesOf(`assets/${name}.gz`),
    }),
  );
  return {
    page: textOf('page.html'),
    serviceWorker: textOf('service-worker.js'),
    files: [...shipped, ...own],
    roles,
    imports: list.imports,
  };
}

const bytesOf = (name: string): Uint8Array => readFileSync(new URL(name, FOLDER));
const textOf = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

/** A file of the user's own: compressed at the start of the service, so at a level that takes milliseconds. */
function compressed(role: string, type: string, plain: Uint8Array): ConsoleFile {
  const hash = createHash('sha256').update(plain).digest('hex').slice(0, 12);
  const br = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  return { name: `${role}-${hash}.bin`, type, plain, br, gzip: gzipSync(plain) };
}
