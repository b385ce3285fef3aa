// Puts what the command and the server ship in place of the links to their workspaces in node_modules, and removes the
// other links: the image has no src/ to which they could lead.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const PARTS = ['package.json', 'bin', 'dist'];
const SHIPPED = ['hexcodes-cli', 'hexcodes-server'];

for (const folder of readdirSync('src')) {
  const source = join('src', folder);
  const { name } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const installed = join('node_modules', name);
  rmSync(installed);
  if (!SHIPPED.includes(name)) continue;
  for (const part of PARTS.filter((each) => existsSync(join(source, each))))
    cpSync(join(source, part), join(installed, part), { recursive: true });
}
rmSync(join('node_modules', '@hexcodes'), { recursive: true });
