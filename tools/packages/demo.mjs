// `npm run demo [-- FOLDER]`: the page of the service as a folder of plain files (var/demo), for any file server and at
// any path of its host. It makes and reads codes by itself; it has no API, no stream, and no way to /docs.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillPage, readConsoleFiles } from '#dist/server/routes/console-page.js';

const PAGE = 'index.html';
const OWN_MARK = '<meta name="hexcodes"';

const folder = process.argv[2] ?? 'var/demo';
const page = join(folder, PAGE);
const isOurs = existsSync(page) && readFileSync(page, 'utf8').includes(OWN_MARK);
if (existsSync(folder) && readdirSync(folder).length > 0 && !isOurs) {
  console.error(`demo: ${folder} holds something else; name an empty folder`);
  process.exit(1);
}
rmSync(join(folder, 'assets'), { recursive: true, force: true });
mkdirSync(join(folder, 'assets'), { recursive: true });

const files = readConsoleFiles({
  index: readFileSync('data/index.bin'),
  reach: readFileSync('data/reach.bin'),
});
const { html, serviceWorker } = fillPage(files, { hasService: false });
writeFileSync(page, html);
writeFileSync(join(folder, 'service-worker.js'), serviceWorker);
for (const { name, plain } of files.files) writeFileSync(join(folder, 'assets', name), plain);
for (const name of ['LICENSE', 'NOTICE', 'data/LICENSE', 'data/licences'])
  cpSync(name, join(folder, name), { recursive: true });

const bytes = files.files.reduce((sum, { plain }) => sum + plain.length, 0);
console.log(
  `${folder}: ${files.files.length} files, ${bytes} bytes; python3 -m http.server -d ${folder} serves it`,
);
