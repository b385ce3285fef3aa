// How fast a command starts is decided by what it loads: h3-js alone takes longer than everything else of a conversion.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

/**
 * Packages and files that modules load at once, through other modules, too; those of `import()` are loaded when needed.
 */
function loadedBy(entries: readonly string[]): { packages: string[]; files: number } {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, to] of text.matchAll(
      /^(?:import\s*|(?:import|export)\b[^;'"=]*?\bfrom\s*)['"]([^'"]+)['"];/gm,
    )) {
      if (to!.startsWith('.')) visit(join(dirname(file), to!));
      else if (!to!.startsWith('node:')) packages.add(to!);
    }
  };
  for (const entry of entries) visit(entry);
  return { packages: [...packages].sort(), files: seen.size };
}

test('a conversion of files loads commander and the progress bar, and no other package', () => {
  const entries = [
    'cli/main.js',
    'cli/program.js',
    'cli/commands/encode.js',
    'cli/commands/decode.js',
    'files/run.js',
  ];
  expect(loadedBy(entries.map((entry) => `dist/${entry}`)).packages).toEqual(['cli-progress', 'commander']);
});

test('the loading of h3-js would be seen', () => {
  expect(loadedBy(['dist/hexcodes/geometry/geojson.js']).packages).toEqual(['h3-js']);
});
