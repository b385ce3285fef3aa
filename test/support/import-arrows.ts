// The import lines of src/ and assembly/, counted by workspace and room of the kernel.
//   npm run build && node build/test/support/import-arrows.js [FOLDER]     FOLDER: another checkout, . if absent
// A room is a folder directly below src/ or assembly/; files that lie directly in one of the two are a room together.
// Type-only imports count too.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { argv } from 'node:process';

/** One import or re-export of a file of the same tree; both paths from the root of the repository. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
}

const IMPORT_LINE = /^(?:import|export)\b[^;]*?from\s+['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)/gm;

export function sourceFilesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? entry.name === 'dist'
        ? []
        : sourceFilesBelow(join(folder, entry.name))
      : entry.name.endsWith('.ts')
        ? [join(folder, entry.name)]
        : [],
  );
}

/** All arrows between files below `tree`, a folder of the checkout at `root`. */
export function arrowsOf(root: string, tree: string): Arrow[] {
  return sourceFilesBelow(join(root, tree)).flatMap((path) => {
    const from = relative(root, path);
    return [...readFileSync(path, 'utf8').matchAll(IMPORT_LINE)]
      .map((match) => match[1] ?? match[2] ?? '')
      .filter((name) => name.startsWith('.'))
      .map((name) => normalize(join(dirname(from), name)).replace(/\.js$/, ''))
      .map((to) => ({ from, to: existsSync(join(root, `${to}.ts`)) ? `${to}.ts` : `${to}.d.ts` }));
  });
}

/** `src/hexcodes/wire/rows/batch.ts` → src/hexcodes, `assembly/encode.ts` → assembly. */
export function roomOf(file: string): string {
  return file.split('/').slice(0, -1).slice(0, 2).join('/');
}

/** Groups of files that import one another in a circle, each sorted; the largest first. */
export function circlesOf(arrows: readonly Arrow[]): string[][] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of arrows) targets.set(from, (targets.get(from) ?? new Set()).add(to));
  const reachableFrom = (start: string): Set<string> => {
    const seen = new Set<string>();
    const open = [start];
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      for (const next of targets.get(file) ?? []) {
        if (seen.has(next)) continue;
        seen.add(next);
        open.push(next);
      }
    }
    return seen;
  };
  const reachable = new Map([...targets.keys()].map((file) => [file, reachableFrom(file)]));
  const circles = new Map<string, string[]>();
  for (const [file, others] of reachable) {
    if (!others.has(file)) continue;
    const circle = [...others].filter((other) => reachable.get(other)?.has(file)).sort();
    circles.set(circle.join(), circle);
  }
  return [...circles.values()].sort((a, b) => b.length - a.length);
}

/** One row a room: its files, its largest folder, what it imports of other rooms, and its circles. */
function printTable(root: string): void {
  const trees = ['src', 'assembly'];
  const files = trees.flatMap((tree) =>
    sourceFilesBelow(join(root, tree)).map((path) => relative(root, path)),
  );
  const arrows = trees.flatMap((tree) => arrowsOf(root, tree));
  const circles = circlesOf(arrows);
  console.log('| room | files | largest folder | imports of other rooms | files in circles |');
  console.log('|---|---|---|---|---|');
  for (const room of [...new Set(files.map(roomOf))].sort()) {
    const own = files.filter((file) => roomOf(file) === room);
    const folders = [...new Set(own.map(dirname))].map((folder) => own.filter((f) => dirname(f) === folder));
    const outward = new Map<string, number>();
    for (const { from, to } of arrows) {
      const target = roomOf(to);
      if (roomOf(from) === room && target !== room) outward.set(target, (outward.get(target) ?? 0) + 1);
    }
    const listed = [...outward].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name} ${count}`);
    const largest = Math.max(...folders.map((folder) => folder.length));
    const inCircles = own.filter((file) => circles.some((circle) => circle.includes(file))).length;
    console.log(`| ${room} | ${own.length} | ${largest} | ${listed.join(', ')} | ${inCircles} |`);
  }
  console.log(`\nfiles ${files.length}, arrows ${arrows.length}, circles ${circles.length}`);
  for (const circle of circles) console.log(`circle: ${circle.join(' ')}`);
}

if (argv[1]?.endsWith('import-arrows.js')) printTable(argv[2] ?? '.');
