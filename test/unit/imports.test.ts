// Who may import whom, held over the import lines of the repository. A room not named here may import nothing but itself.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';

/** Files at the top of src/ that every room may import: they import nothing above them. */
const GROUND = ['errors', 'admin-units', 'version', 'networks'];

/** The files at the top of src/wire that its rooms share. */
const WIRE_TOP = ['wire/job', 'wire/status-messages', 'wire/swapped'];

/** The rooms that each room of src/ may import besides itself. A room inside a room may import only what stands here. */
const MAY_IMPORT: Record<string, string[]> = {
  errors: [],
  'admin-units': [],
  config: ['errors'],
  kernel: [],
  'wire/params': [],
  'wire/bytes': ['kernel'],
  'wire/frames': ['wire/bytes', ...WIRE_TOP, 'kernel'],
  'wire/rows': ['wire/params', 'wire/bytes', 'wire/frames', ...WIRE_TOP, 'kernel'],
  'wire/bulk': ['wire/params', 'wire/bytes', 'wire/frames', 'wire/rows', ...WIRE_TOP, 'kernel'],
  wire: ['kernel'],
  geometry: ['library', 'wire', 'kernel'],
  client: ['wire'],
  pool: ['kernel', 'wire'],
  keys: [],
  usage: ['keys'],
  library: ['kernel', 'wire', 'geometry'],
  'server/budget': [],
  'server/transport': ['server/budget', 'server/ledger'],
  'server/metrics': ['server/budget', 'server/ledger', 'usage'],
  server: ['config', 'library', 'wire', 'kernel', 'pool', 'keys', 'usage', 'geometry', 'forward'],
  // Build time only: the description of what the others do.
  api: ['wire', 'server/transport', 'server/routes/freshness'],
  supervisor: ['config', 'server'],
  capacity: ['library', 'client', 'wire'],
  // Sinks may be buses.
  forward: ['config', 'engine/nats'],
  'engine/nats': ['engine', 'wire'],
  engine: ['library', 'wire', 'kernel', 'pool'],
  // Runs in the browser: bundled, never imported.
  console: ['library', 'geometry', 'wire', 'kernel'],
  'cli/terminal': ['cli/exit-codes', 'keys'],
  cli: [
    'config',
    'library',
    'wire',
    'kernel',
    'pool',
    'keys',
    'usage',
    'capacity',
    'geometry',
    'server',
    'supervisor',
    'engine',
  ],
};

/** Packages that only these rooms may import. */
const ONLY_IN: Record<string, string | string[]> = {
  'uWebSockets.js': 'server/transport',
  piscina: 'pool',
  'h3-js': 'geometry',
  'hdr-histogram-js': 'capacity',
  tinybench: 'capacity',
  libsql: ['keys', 'usage'],
  pg: 'keys',
  '@nats-io/transport-node': 'engine/nats',
  '@nats-io/jetstream': 'engine/nats',
  '@nats-io/services': 'engine/nats',
  typebox: 'api',
  'prom-client': 'server/metrics',
  '@maplibre/vt-pbf': 'server/grid',
  'maplibre-gl': ['console/map', 'console/points'],
  '@opentelemetry/exporter-trace-otlp-http': 'server/observe',
};

/** Rooms and files that may touch the process and the file system. */
const HOST_ROOMS = [
  'cli',
  'keys',
  'usage',
  'config',
  'supervisor',
  'capacity/processes',
  'forward/backlog',
  'forward/sinks',
];
const HOST_FILES = [
  'server/transport/load-uws',
  'server/transport/receive-buffer',
  'server/transport/door/descriptors',
  'pool/usable-cores',
  'server/log-sink',
  'server/life/unsent-bytes',
  'server/bulk/spool',
  'server/console/read-files',
];

/** More files than this in one folder of src/, and it is split by trade. */
const MOST_FILES = 12;

interface ImportLine {
  /** Without `src/` and ending, as `wire/rows/batch`. */
  from: string;
  /** The same, or a package. */
  to: string;
  isPackage: boolean;
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

const nameOf = (root: string, file: string): string => relative(root, file).replace(/(\.d)?\.[jt]s$/, '');

function importsBelow(root: string): ImportLine[] {
  return filesBelow(root).flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(
        /^(?:import|export)\b[^;]*?from\s+['"]([^'"]+)['"]|\bimport\('([^']+)'\)/gm,
      ),
    ].map((match) => {
      const to = (match[1] ?? match[2]) as string;
      const isPackage = !to.startsWith('.');
      const target = isPackage ? to : nameOf(root, normalize(join(dirname(file), to)));
      return { from: nameOf(root, file), to: target, isPackage };
    }),
  );
}

const isIn = (name: string, room: string): boolean => name === room || name.startsWith(`${room}/`);

/** The narrowest room with a rule of its own that holds the file. */
function roomOf(name: string): string {
  const rooms = Object.keys(MAY_IMPORT).filter((room) => isIn(name, room));
  return rooms.sort((a, b) => b.length - a.length)[0] ?? name.split('/')[0] ?? '';
}

/** Every circle of files that import one another, the files of each in one line. */
function circlesOf(lines: ImportLine[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to, isPackage } of lines)
    if (!isPackage) targets.set(from, [...(targets.get(from) ?? []), to]);
  const done = new Set<string>();
  const circles = new Set<string>();
  const visit = (file: string, way: string[]): void => {
    const at = way.indexOf(file);
    if (at >= 0) circles.add(way.slice(at).sort().join(' '));
    if (at >= 0 || done.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...way, file]);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return [...circles];
}

const imports = importsBelow('src');

test('import lines are found', () => {
  expect(imports.length).toBeGreaterThan(300);
});

test('rooms import only the rooms below them', () => {
  const wrong = imports
    .filter(({ to, isPackage }) => !isPackage && !GROUND.includes(to))
    .filter(({ from, to }) => {
      const room = roomOf(from);
      return !isIn(to, room) && !MAY_IMPORT[room]?.some((allowed) => isIn(to, allowed));
    })
    .map(({ from, to }) => `${from} imports ${to}`);
  expect(wrong).toEqual([]);
});

test.each(['src', 'assembly', 'data', 'bench', 'test'])(
  'no files of %s import one another in a circle',
  (root) => {
    const left = /^server\/bulk\/context/;
    expect(circlesOf(importsBelow(root)).filter((circle) => !left.test(circle))).toEqual([]);
  },
);

test('the search for circles finds one', () => {
  const line = (from: string, to: string): ImportLine => ({ from, to, isPackage: false });
  expect(circlesOf([line('a', 'b'), line('b', 'c'), line('c', 'b')])).toEqual(['b c']);
});

test(`no folder of src has more than ${MOST_FILES} files`, () => {
  const counts = new Map<string, number>();
  for (const file of filesBelow('src')) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
});

test('packages are imported by their rooms only', () => {
  const wrong = imports
    .filter(
      ({ from, to }) => ONLY_IN[to] !== undefined && ![ONLY_IN[to]].flat().some((room) => isIn(from, room)),
    )
    .map(({ from, to }) => `${from} imports ${to}`);
  expect(wrong).toEqual([]);
});

test('WebAssembly is used in the kernel room only', () => {
  const users = filesBelow('src').filter((file) =>
    /\bWebAssembly\.(Instance|instantiate|compile|Module\()/.test(readFileSync(file, 'utf8')),
  );
  expect(users.filter((file) => !isIn(nameOf('src', file), 'kernel'))).toEqual([]);
});

test('the file system is touched by named files only', () => {
  const wrong = imports
    .filter(({ to }) => /^node:(fs|fs\/promises|process|child_process)$/.test(to))
    .filter(({ from }) => !HOST_ROOMS.some((room) => isIn(from, room)) && !HOST_FILES.includes(from))
    .map(({ from, to }) => `${from} imports ${to}`);
  expect(wrong).toEqual([]);
});

test('tests import one another never, and bench nothing but test/support', () => {
  const wrong = [...filesBelow('test'), ...filesBelow('bench')].flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/from\s+'(\.[^']+)'/g)]
      .map((match) => normalize(join(dirname(file), match[1] as string)))
      .filter((to) => /^test\/(unit|property|oracle|conformance|e2e)\//.test(to))
      .map((to) => `${file} imports ${to}`),
  );
  expect(wrong).toEqual([]);
});
