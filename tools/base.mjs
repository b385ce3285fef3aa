// `node tools/base.mjs COMMIT FOLDER`: a checkout of another commit, built with the packages of others that are
// installed here, whichever layout it has. Prints the path of its command. It is a worktree: `git worktree remove
// --force FOLDER` ends it.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const COMMANDS = ['src/cli/bin/hexcodes.js', 'dist/cli/main.js'];

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [commit, target] = process.argv.slice(2);
const folder = resolve(target);
const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });

run('git', ['worktree', 'add', '-q', '--detach', folder, commit], root);
run(process.execPath, [join(root, 'tools/link-packages.mjs'), root, folder], root);
run(process.execPath, ['build.mjs'], folder);
console.log(COMMANDS.map((path) => join(folder, path)).find((path) => existsSync(path)));
