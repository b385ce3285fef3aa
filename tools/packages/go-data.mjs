// `node tools/packages/go-data.mjs`: copies the built kernel and its data into clients/go/data, as go:embed cannot
// reach the build, and the vectors of its tests into testdata; test/conformance/go-java.test.ts compares them.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const TARGET = join(ROOT, 'clients/go/data');

execFileSync(process.execPath, [join(ROOT, 'build.mjs'), '--tests'], { stdio: 'inherit' });
const sums = ['dist/kernel.wasm', 'data/index.bin', 'data/reach.bin'].map((file) => {
  const name = file.slice(file.lastIndexOf('/') + 1);
  copyFileSync(join(ROOT, file), join(TARGET, name));
  return `${createHash('sha256')
    .update(readFileSync(join(TARGET, name)))
    .digest('hex')}  ${name}\n`;
});
writeFileSync(join(TARGET, 'SHA256SUMS'), sums.join(''));
copyFileSync(join(ROOT, 'data/LICENSE'), join(TARGET, 'LICENSE'));
// Users copy the folder of the package, alone.
for (const name of ['LICENSE', 'NOTICE']) copyFileSync(join(ROOT, name), join(TARGET, '..', name));
const TESTDATA = join(TARGET, '../testdata');
mkdirSync(TESTDATA, { recursive: true });
copyFileSync(join(ROOT, 'test/vectors/doors.json'), join(TESTDATA, 'doors.json'));
