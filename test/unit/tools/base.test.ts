// A base to compare with runs its own files: packages of others are linked into it, and its workspaces are its own,
// whether it has the layout with workspaces or the one before.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const top = realpathSync(mkdtempSync(join(tmpdir(), 'hexcodes-base-')));
const checkout = join(top, 'checkout');
afterAll(() => rmSync(top, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(checkout, path)), { recursive: true });
  writeFileSync(join(checkout, path), text);
}

function git(...args: string[]): string {
  const own = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', ['-C', checkout, ...own, ...args], { encoding: 'utf8' }).trim();
}

/** Writes a checkout whose command says a word, which a package of another says too, and commits it. */
function commit(files: Record<string, string>): string {
  for (const [path, text] of Object.entries(files)) write(path, text);
  git('add', '-A');
  git('commit', '-q', '-m', 'a state');
  return git('rev-parse', 'HEAD');
}

const WORKSPACES = (word: string) => ({
  'src/server/package.json': '{"name": "hexcodes-server", "type": "module", "exports": "./word.js"}',
  'src/server/word.js': `export const word = '${word}';\n`,
  'src/cli/package.json':
    '{"name": "hexcodes-cli", "type": "module", "bin": {"hexcodes": "bin/hexcodes.js"}}',
  'src/cli/bin/hexcodes.js':
    "import { word } from 'hexcodes-server';\nimport { other } from 'other';\nconsole.log(word, other);\n",
  'build.mjs': "import { writeFileSync } from 'node:fs';\nwriteFileSync('built', '');\n",
});

let before: string;
let old: string;
beforeAll(() => {
  mkdirSync(checkout);
  git('init', '-q');
  cpSync('tools/base.mjs', join(checkout, 'tools/base.mjs'));
  cpSync('tools/link-packages.mjs', join(checkout, 'tools/link-packages.mjs'));
  write('.gitignore', 'node_modules\nbuilt\ndist\n');
  old = commit({
    'src/word.js': "export const word = 'old';\n",
    'build.mjs': `import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
      mkdirSync('dist/cli', { recursive: true });
      cpSync('src/word.js', 'dist/word.js');
      writeFileSync('dist/cli/main.js', 'import { word } from "../word.js"; import { other } from "other"; console.log(word, other);');
      writeFileSync('built', '');`,
    'package.json': '{"type": "module"}',
  });
  before = commit(WORKSPACES('before'));
  commit(WORKSPACES('after'));
  // As npm installs them.
  const installed = join(checkout, 'node_modules');
  mkdirSync(join(installed, '.bin'), { recursive: true });
  mkdirSync(join(installed, 'other'));
  writeFileSync(
    join(installed, 'other/package.json'),
    '{"name": "other", "type": "module", "exports": "./other.js"}',
  );
  writeFileSync(join(installed, 'other/other.js'), "export const other = 'another';\n");
  symlinkSync('../src/server', join(installed, 'hexcodes-server'));
  symlinkSync('../src/cli', join(installed, 'hexcodes-cli'));
  symlinkSync('../hexcodes-cli/bin/hexcodes.js', join(installed, '.bin/hexcodes'));
  chmodSync(join(checkout, 'src/cli/bin/hexcodes.js'), 0o755);
});

test.each([
  ['with workspaces', () => before, 'before'],
  ['without', () => old, 'old'],
])('a base %s runs its own files', (name, commitOf, word) => {
  const folder = join(top, name.replaceAll(' ', '-'));
  const base = execFileSync(process.execPath, [join(checkout, 'tools/base.mjs'), commitOf(), folder], {
    encoding: 'utf8',
  });
  const command = base.trim();
  expect(command.startsWith(`${folder}/`)).toBe(true);
  expect(execFileSync(process.execPath, [command], { encoding: 'utf8' })).toBe(`${word} another\n`);
  expect(readFileSync(join(folder, 'built'), 'utf8')).toBe('');
});

test('a link to the whole of node_modules would run files of the other checkout', () => {
  const folder = join(top, 'linked');
  git('worktree', 'add', '-q', '--detach', folder, before);
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'));
  const ran = execFileSync(process.execPath, [join(folder, 'src/cli/bin/hexcodes.js')], { encoding: 'utf8' });
  expect(ran).toBe('after another\n');
});
