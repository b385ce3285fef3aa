// Who may import whom, held over the import lines of src/. A room not named here may import nothing but itself.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';

const SRC = 'src';

/** Files at the top of src/ that every room may read: they know nobody above them. */
const GROUND = ['errors', 'admin-units', 'version'];

const MAY_IMPORT: Record<string, string[]> = {
  errors: [],
  'admin-units': [],
  config: ['errors'],
  kernel: [],
  wire: ['kernel'],
  geometry: ['library', 'wire', 'kernel'],
  client: ['wire'],
  pool: ['kernel', 'wire'],
  keys: [],
  library: ['kernel', 'wire', 'geometry'],
  server: ['config', 'library', 'wire', 'kernel', 'pool', 'keys', 'geometry'],
  capacity: ['client', 'wire'],
  console: ['library'],
  cli: ['config', 'library', 'wire', 'kernel', 'pool', 'keys', 'capacity', 'geometry', 'server'],
};

/** Packages that only one room may import. */
const ONLY_IN: Record<string, string[]> = {
  'uWebSockets.js': ['server'],
  piscina: ['pool'],
  'h3-js': ['geometry'],
  libsql: ['keys'],
};

/** Rooms and files that may touch the process and the file system. */
const HOST_ROOMS = ['cli', 'keys', 'config'];
const HOST_FILES = ['src/library/node.ts', 'src/server/transport/uws.ts', 'src/server/bulk/spool.ts'];

interface ImportLine {
  file: string;
  room: string;
  to: string;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? filesBelow(join(folder, entry.name))
      : entry.name.endsWith('.ts')
        ? [join(folder, entry.name)]
        : [],
  );
}

/** `src/wire/rows/batch.ts` → wire, `src/errors.ts` → errors; `src/geometry.ts` is the entry of its room. */
function roomOf(file: string): string {
  const [first = '', ...rest] = relative(SRC, file).split('/');
  if (rest.length > 0) return first;
  return first.replace(/\.[jt]s$/, '');
}

const imports: ImportLine[] = filesBelow(SRC).flatMap((file) =>
  [
    ...readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)\b[^;]*?from\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
    ),
  ].map((match) => ({ file, room: roomOf(file), to: (match[1] ?? match[2]) as string })),
);

test('import lines are found', () => {
  expect(imports.length).toBeGreaterThan(3);
});

test('rooms import only the rooms below them', () => {
  const wrong = imports
    .filter(({ to }) => to.startsWith('.'))
    .map((line) => ({ ...line, target: roomOf(normalize(join(dirname(line.file), line.to))) }))
    .filter(({ room, target }) => room !== target && !GROUND.includes(target))
    .filter(({ room, target }) => !MAY_IMPORT[room]?.includes(target))
    .map(({ file, to }) => `${file} imports ${to}`);
  expect(wrong).toEqual([]);
});

test('a package with one importer has one importer', () => {
  const wrong = imports
    .filter(({ room, to }) => ONLY_IN[to] !== undefined && !ONLY_IN[to].includes(room))
    .map(({ file, to }) => `${file} imports ${to}`);
  expect(wrong).toEqual([]);
});

test('WebAssembly is used in the kernel room only', () => {
  const users = filesBelow(SRC).filter((file) =>
    /\bWebAssembly\.(Instance|instantiate|compile|Module\()/.test(readFileSync(file, 'utf8')),
  );
  expect(users.filter((file) => roomOf(file) !== 'kernel')).toEqual([]);
});

test('the file system is touched by named files only', () => {
  const wrong = imports
    .filter(({ to }) => /^node:(fs|fs\/promises|process|child_process)$/.test(to))
    .filter(({ file, room }) => !HOST_ROOMS.includes(room) && !HOST_FILES.includes(file))
    .map(({ file, to }) => `${file} imports ${to}`);
  expect(wrong).toEqual([]);
});
