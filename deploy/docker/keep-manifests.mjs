// Leaves of a folder the files that say which packages are installed, and nothing else: a layer of the image that comes
// from them alone stays as it is when only code has changed.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const KEPT = ['package.json', 'package-lock.json', '.npmrc'];
const folder = process.argv[2];

for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
  if (!entry.isDirectory() && !KEPT.includes(entry.name)) rmSync(join(entry.parentPath, entry.name));
