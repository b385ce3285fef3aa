// `node tools/link-packages.mjs FROM TO`: gives the checkout TO the packages of others that are installed in the
// checkout FROM, by links, and its own workspaces as what they are there. A link to the whole of node_modules would
// hand it the workspaces of FROM, and it would run code that is not its own.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

const [from, to] = process.argv.slice(2).map((path) => resolve(path));
const entriesOf = (path) => (existsSync(path) ? readdirSync(path) : []);
const workspaces = (checkout) =>
  entriesOf(join(checkout, 'src'))
    .map((folder) => join(checkout, 'src', folder))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => ({ folder, ...JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) }));

const installed = join(from, 'node_modules');
const own = new Set(workspaces(from).map(({ name }) => name));
const names = entriesOf(installed)
  .filter((name) => !name.startsWith('.'))
  .flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(installed, name)).map((each) => `${name}/${each}`) : [name],
  );
const link = (target, name) => {
  const path = join(to, 'node_modules', name);
  mkdirSync(join(path, '..'), { recursive: true });
  symlinkSync(target, path);
};
for (const name of names.filter((each) => !own.has(each))) link(join(installed, name), name);
for (const { name, folder, bin = {} } of workspaces(to)) {
  link(folder, name);
  for (const [command, path] of Object.entries(bin)) link(join(folder, path), `.bin/${command}`);
}
for (const command of entriesOf(join(installed, '.bin'))) {
  if (!existsSync(join(to, 'node_modules/.bin', command)))
    link(join(installed, '.bin', command), `.bin/${command}`);
}
const judges = join(from, 'test/judges/node_modules');
if (existsSync(judges) && existsSync(join(to, 'test/judges'))) {
  symlinkSync(judges, join(to, 'test/judges/node_modules'));
  for (const folder of ['test', 'bench']) symlinkSync(judges, join(to, folder, 'node_modules'));
}
