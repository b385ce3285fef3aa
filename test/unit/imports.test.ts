// Who may import whom: in src, in the kernel, and of both by tests; and how large functions on the way of a row are.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, test } from 'vitest';

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? // Bundles of the workspaces, and packages.
        ['dist', 'node_modules'].includes(entry.name)
        ? []
        : filesBelow(join(folder, entry.name))
      : entry.name.endsWith('.ts')
        ? [join(folder, entry.name)]
        : [],
  );
}

const isIn = (name: string, room: string): boolean => name === room || name.startsWith(`${room}/`);

// Who may import whom, held over the import lines of the repository: workspaces by what their package.json says that
// they need, and rooms in them by the table below.
describe('src', () => {
  interface Manifest {
    readonly name: string;
    readonly version: string;
    readonly private?: boolean;
    readonly workspaces?: readonly string[];
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly optionalDependencies?: Readonly<Record<string, string>>;
    readonly peerDependencies?: Readonly<Record<string, string>>;
    readonly devDependencies?: Readonly<Record<string, string>>;
  }

  const readManifest = (path: string): Manifest =>
    JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const rangesOf = ({ dependencies, optionalDependencies, peerDependencies, devDependencies }: Manifest) => ({
    ...dependencies,
    ...optionalDependencies,
    ...peerDependencies,
    ...devDependencies,
  });

  const ROOT = readManifest('.');
  const WORKSPACES = new Map(readdirSync('src').map((folder) => [folder, readManifest(join('src', folder))]));
  const FOLDERS = new Map([...WORKSPACES].map(([folder, { name }]) => [name, folder]));

  /** The packages that a workspace needs, of others and of ours, by the names of their packages. */
  const needsOf = (workspace: string): string[] =>
    Object.keys(rangesOf(WORKSPACES.get(workspace) as Manifest));

  /** Packages that the root has had from the first day; tools of others read their ranges there. */
  const FIXED: Record<string, string> = {
    assemblyscript: '^0.28.20',
    commander: '^14.0.3',
    'h3-js': '4.5',
    piscina: '5.3',
    'uWebSockets.js': 'npm:@btc-vision/uwebsockets.js@20.57.0',
  };

  /** Files of src/hexcodes that all of its rooms may import: they import nothing above them. */
  const GROUND = ['errors', 'admin-units', 'version', 'extras'].map((file) => `hexcodes/${file}`);

  /** The files at the top of wire that its rooms share. */
  const WIRE_TOP = [
    'hexcodes/wire/job',
    'hexcodes/wire/limits',
    'hexcodes/wire/status-messages',
    'hexcodes/wire/swapped',
  ];

  const KERNEL = 'hexcodes/kernel';
  const WIRE = 'hexcodes/wire';

  /** Rooms inside a workspace that may import less than it: these, and the workspaces that it needs. */
  const MAY_IMPORT: Record<string, string[]> = {
    [KERNEL]: [],
    [WIRE]: [KERNEL],
    'hexcodes/wire/params': [],
    'hexcodes/wire/bytes': [KERNEL],
    'hexcodes/wire/frames': ['hexcodes/wire/bytes', ...WIRE_TOP, KERNEL],
    'hexcodes/wire/rows': ['params', 'bytes', 'frames']
      .map((room) => `${WIRE}/${room}`)
      .concat(WIRE_TOP, KERNEL),
    'hexcodes/wire/bulk': ['params', 'bytes', 'frames', 'rows']
      .map((room) => `${WIRE}/${room}`)
      .concat(WIRE_TOP, KERNEL),
    'hexcodes/geometry': ['hexcodes/library', WIRE, KERNEL],
    'hexcodes/library': [KERNEL, WIRE, 'hexcodes/geometry'],
    'hexcodes/client': [WIRE],
    'bus/messages': ['bus'],
    'bus/jobs': ['bus'],
    'server/keys': ['server/observe/heartbeat'],
    'server/usage': ['server/keys', 'server/observe/heartbeat', 'server/observe/operations'],
    'server/traccar/forward': ['server/transport/limits'],
    'server/transport': [],
    'server/observe/metrics': ['server/observe/operations', 'server/transport/limits'],
    // Build time only: the description of what the others do.
    'server/api': ['server/transport', 'server/http/freshness'],
    'files/terminal': ['files/exit-codes'],
  };

  /** Packages that only these rooms may import. */
  const ONLY_IN: Record<string, string | string[]> = {
    'uWebSockets.js': 'server/transport',
    piscina: 'pool',
    'h3-js': ['hexcodes/geometry', 'console/shell'],
    'hdr-histogram-js': 'capacity',
    tinybench: 'capacity',
    libsql: 'server/keys',
    pg: ['server/keys', 'server/traccar/forward/sinks'],
    '@nats-io/transport-node': 'bus/nats',
    '@nats-io/jetstream': 'bus/nats',
    '@nats-io/services': 'bus/nats',
    typebox: 'server/api',
    'prom-client': 'server/observe/metrics',
    '@maplibre/vt-pbf': 'server/routes/grid',
    pmtiles: 'console/map',
    fflate: 'tables',
    'maplibre-gl': ['console/map', 'console/points'],
    '@opentelemetry/exporter-trace-otlp-http': 'server/observe',
  };

  /** Rooms and files that may touch the process and the file system. */
  const HOST_ROOMS = [
    'cli',
    'files',
    'config',
    'capacity/processes',
    'server/keys',
    'server/usage',
    'server/routes/basemap-archive',
    'server/lifecycle/supervisor',
    'server/traccar/forward/backlog',
    'server/traccar/forward/sinks',
  ];
  const HOST_FILES = [
    'server/api/document',
    'server/transport/load-uws',
    'server/transport/limits',
    'pool/slices',
    'pool/usable-cores',
    'server/observe/log',
    'server/observe/heartbeat',
    'server/lifecycle/examine',
    'server/lifecycle/parts',
    'server/bulk/spool',
    'server/routes/console-page',
    'server/routes/meta',
  ];

  interface ImportLine {
    /** Without `src/` and ending, as `hexcodes/wire/rows/batch`. */
    from: string;
    /** A module, or a package. */
    to: string;
    isPackage: boolean;
    isType: boolean;
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
        return { from: nameOf(root, file), to: target, isPackage, isType: /^\w+ type\b/.test(match[0]) };
      }),
    );
  }

  /** The narrowest room with a rule of its own that holds the file. */
  function roomOf(name: string): string | undefined {
    const rooms = Object.keys(MAY_IMPORT).filter((room) => isIn(name, room));
    return rooms.sort((a, b) => b.length - a.length)[0];
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

  const workspaceOf = (name: string): string => name.split('/')[0] as string;
  const packageOf = (specifier: string): string =>
    specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

  test('workspaces import only the workspaces and packages that they need, and need no other workspace', () => {
    const imported = imports
      .filter(({ to }) => !to.startsWith('node:'))
      .map(({ from, to, isPackage }) => {
        const own = workspaceOf(from);
        const name = isPackage ? packageOf(to) : WORKSPACES.get(workspaceOf(to))?.name;
        return { own, name: name as string, line: `${from} imports ${to}` };
      })
      .filter(({ own, name }) => name !== WORKSPACES.get(own)?.name);
    const wrong = imported.filter(({ own, name }) => !needsOf(own).includes(name));
    expect(wrong.map(({ line }) => line)).toEqual([]);
    const used = new Set(imported.map(({ own, name }) => `${own} ${name}`));
    const idle = [...WORKSPACES.keys()].flatMap((own) =>
      needsOf(own)
        .filter((name) => FOLDERS.has(name) && !used.has(`${own} ${name}`))
        .map((name) => `${own} needs ${name}`),
    );
    expect(idle).toEqual([]);
  });

  test('workspaces are private, of one version, and take packages in the ranges of the root', () => {
    expect([ROOT.private, ROOT.workspaces]).toEqual([true, ['src/*']]);
    const all = rangesOf(ROOT);
    for (const [folder, manifest] of WORKSPACES) {
      expect([folder, manifest.private, manifest.version]).toEqual([folder, true, ROOT.version]);
      for (const [name, range] of Object.entries(rangesOf(manifest)))
        expect([folder, name, range]).toEqual([folder, name, FOLDERS.has(name) ? ROOT.version : all[name]]);
    }
    expect(Object.fromEntries(Object.keys(FIXED).map((name) => [name, all[name]]))).toEqual(FIXED);
  });

  test('workspaces need one another in one direction', () => {
    const above = new Map(
      [...WORKSPACES.keys()].map((own) => [own, needsOf(own).flatMap((name) => FOLDERS.get(name) ?? [])]),
    );
    const lines = [...above].flatMap(([from, needed]) =>
      needed.map((to) => ({ from, to, isPackage: false, isType: false })),
    );
    expect(lines.length).toBeGreaterThan(10);
    expect(circlesOf(lines)).toEqual([]);
  });

  test('rooms import only the rooms below them', () => {
    const wrong = imports
      .filter(({ from, to, isPackage }) => !isPackage && workspaceOf(from) === workspaceOf(to))
      .filter(({ to }) => !GROUND.includes(to))
      .filter(({ from, to }) => {
        const room = roomOf(from);
        return (
          room !== undefined && !isIn(to, room) && !MAY_IMPORT[room]?.some((allowed) => isIn(to, allowed))
        );
      })
      .map(({ from, to }) => `${from} imports ${to}`);
    expect(wrong).toEqual([]);
  });

  /** Rooms that peers call; each is opened by the files at the top of the service. */
  const DOORS = ['routes', 'routes/grid', 'bulk', 'stream', 'traccar', 'admin'].map(
    (room) => `server/${room}`,
  );
  const OPENERS = ['server/lifecycle', 'server/serve'];

  test('no room of the service knows a door but its own', () => {
    const wrong = imports
      .filter(({ from }) => isIn(from, 'server') && !OPENERS.some((opener) => isIn(from, opener)))
      .filter(({ from, to }) => DOORS.some((door) => isIn(to, door) && !isIn(from, door)))
      .map(({ from, to }) => `${from} imports ${to}`);
    expect(wrong).toEqual([]);
  });

  /** Rooms of the service: but for types, each imports from the levels above it alone. */
  const LEVELS = [
    ['observe', 'transport'],
    ['keys'],
    ['http', 'usage'],
    ['ledger', 'admin', 'api'],
    ['routes', 'bulk', 'stream', 'traccar'],
    ['lifecycle'],
    ['serve'],
  ];

  test('rooms of the service are on levels', () => {
    const levelOf = (name: string): number =>
      LEVELS.findIndex((rooms) => rooms.includes(name.split('/')[1]!));
    const inside = imports.filter(({ from, to }) => isIn(from, 'server') && isIn(to, 'server'));
    const wrong = inside
      .filter(({ from, to, isType }) => !isType && from.split('/')[1] !== to.split('/')[1])
      .filter(({ from, to }) => levelOf(to) < 0 || levelOf(to) >= levelOf(from))
      .map(({ from, to }) => `${from} imports ${to}`);
    expect(wrong).toEqual([]);
    const idle = LEVELS.flat().filter((room) => !inside.some(({ from }) => isIn(from, `server/${room}`)));
    expect(idle).toEqual([]);
  });

  test.each(['src', 'assembly', 'data', 'bench', 'test'])(
    'no files of %s import one another in a circle',
    (root) => {
      const left = /^server\/bulk\/context/;
      expect(circlesOf(importsBelow(root)).filter((circle) => !left.test(circle))).toEqual([]);
    },
  );

  test('the search for circles finds one', () => {
    const line = (from: string, to: string): ImportLine => ({ from, to, isPackage: false, isType: false });
    expect(circlesOf([line('a', 'b'), line('b', 'c'), line('c', 'b')])).toEqual(['b c']);
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
    expect(users.filter((file) => !isIn(nameOf('src', file), KERNEL))).toEqual([]);
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
});

describe('functions on the way of a row', () => {
  const MAX_LINES = 80;
  const MAX_PARAMETERS = 5;

  /** Functions that are too long or take too much, by their lines in a file. */
  function tooLarge(text: string): string[] {
    const found: string[] = [];
    (function walk(node: unknown): void {
      if (typeof node !== 'object' || node === null) return;
      const { type, start, end, params, body } = node as Partial<Record<string, unknown>>;
      if (typeof type === 'string' && /^(Function|ArrowFunction)/.test(type) && body != null) {
        const first = text.slice(0, start as number).split('\n').length;
        const lines = text.slice(start as number, end as number).split('\n').length;
        const taken = (params as unknown[]).length;
        if (lines > MAX_LINES || taken > MAX_PARAMETERS)
          found.push(`line ${first}: ${lines} lines, ${taken} parameters`);
      }
      for (const child of Object.values(node)) walk(child);
    })(parseAst(text, { lang: 'ts' }));
    return found;
  }

  test.each(['files', 'tables', 'pool', 'hexcodes/wire', 'bus'])('are small in src/%s', (room) => {
    const files = filesBelow(join('src', room));
    expect(files.length).toBeGreaterThan(0);
    const wrong = files.flatMap((file) =>
      tooLarge(readFileSync(file, 'utf8')).map((each) => `${file}, ${each}`),
    );
    expect(wrong).toEqual([]);
  });

  test('are found where they are large', () => {
    const long = `class A {\n  b(c: number): void {${'\n'.repeat(MAX_LINES)}}\n}`;
    expect(tooLarge(long)).toEqual([`line 2: ${MAX_LINES + 1} lines, 1 parameters`]);
    expect(tooLarge('const f = (a, b, c, d, e, g) => a;')).toEqual(['line 1: 1 lines, 6 parameters']);
    expect(tooLarge('function f(a: string, b, c, d, e) {}')).toEqual([]);
  });
});

// Who may import whom, held over the import lines of assembly/. Circles are looked for above.
describe('the kernel', () => {
  const ROOT = 'assembly';

  /** Each room or file, and what it may import besides itself. */
  const MAY_IMPORT: Record<string, readonly string[]> = {
    memory: [],
    h3: [],
    hexcode: ['memory', 'h3'],
    face5: ['memory', 'h3', 'hexcode'],
    region: ['memory', 'h3/trig', 'hexcode/admin'],
    'text/chars': [],
    'text/row': ['memory'],
    'text/numbers': ['text/chars'],
    'text/scan': ['memory', 'text/chars', 'text/row', 'text/numbers'],
    'text/write': ['memory', 'hexcode', 'region', 'text/chars', 'text/row', 'text/numbers', 'text/scan'],
    locate: ['memory', 'hexcode/admin', 'region'],
    encode: ['memory', 'h3', 'face5', 'hexcode', 'region'],
    decode: ['memory', 'h3', 'face5', 'hexcode'],
    points: ['memory', 'h3', 'hexcode', 'region', 'locate', 'encode', 'decode'],
    index: ['memory', 'h3', 'hexcode', 'region', 'text', 'locate', 'encode', 'decode', 'points'],
  };

  const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => name.slice(0, -3));

  /** [file, what it imports] of every line. */
  const imports = files.flatMap((file) =>
    [
      ...readFileSync(join(ROOT, `${file}.ts`), 'utf8').matchAll(
        /^(?:import|export|\}).*? from "([^"]+)";$/gm,
      ),
    ].map((match) => [file, relative(ROOT, normalize(join(ROOT, dirname(file), match[1]!)))] as const),
  );

  test('every import names a file', () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.filter(([, to]) => !files.includes(to))).toEqual([]);
  });

  test('rooms import only the rooms below them', () => {
    const roomOf = (file: string): string => Object.keys(MAY_IMPORT).find((room) => isIn(file, room)) ?? '';
    const wrong = imports.filter(
      ([from, to]) =>
        !isIn(to, roomOf(from)) && !MAY_IMPORT[roomOf(from)]?.some((allowed) => isIn(to, allowed)),
    );
    expect(wrong.map(([from, to]) => `${from} imports ${to}`)).toEqual([]);
  });
});

// Tests use what users use: the command, the endpoints, the entries of the package (`#hexcodes` and its parts), and one
// entry of each of four workspaces. Private modules are imported where a part is judged that no entry shows.
describe('tests', () => {
  /** Rooms of src that tests may import, and why their behaviour is not judged at an entry alone. */
  const INSIDE: Readonly<Record<string, string>> = {
    'hexcodes/kernel': 'the kernel by its ABI, which hosts in other languages call',
    'hexcodes/wire': 'scanning and printing of numbers, rows and frames, against slow peers',
    'hexcodes/geometry': 'the borders of provinces of made-up maps',
    'hexcodes/client': 'windows and records of a stream over a simulated network',
    pool: 'the queue of blocks and the life of threads',
    tables: 'readers of files, which damaged and hostile input must not harm',
    files: 'conversions in this process: thousands of generated files would take a command each',
    bus: 'workers over a bus of the test, which fails where it is told to',
    cli: 'the list of commands and what a terminal is told',
    capacity: 'load, queue and model in simulated time',
    server: 'machines of state with clocks, stores and sockets of the test',
  };
  /** Imports of private modules by all of test/: it falls. */
  const MAX_PRIVATE_IMPORTS = 80;

  const lines = filesBelow('test').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/from '#dist\/([^']+)\.js'/g)].map((match) => ({
      file,
      to: match[1] as string,
    })),
  );

  test('have an entry to four workspaces, beside those of the package', () => {
    const { imports } = JSON.parse(readFileSync('package.json', 'utf8')) as { imports: object };
    const names = ['#config', '#dist/*', '#files', '#hexcodes', '#hexcodes/client', '#hexcodes/client/web'];
    expect(Object.keys(imports).sort()).toEqual([...names, '#hexcodes/geometry', '#pool', '#server']);
  });

  test('import private modules of the rooms that are listed alone', () => {
    const wrong = lines.filter(({ to }) => !Object.keys(INSIDE).some((room) => isIn(to, room)));
    expect(wrong.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
    const idle = Object.keys(INSIDE).filter((room) => !lines.some(({ to }) => isIn(to, room)));
    expect(idle).toEqual([]);
  });

  test('import no further private modules', () => {
    expect(lines.length).toBeLessThanOrEqual(MAX_PRIVATE_IMPORTS);
  });
});
