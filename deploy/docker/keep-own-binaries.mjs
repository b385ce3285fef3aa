// Removes from node_modules the native code of other platforms: of 50 builds of uWebSockets.js the image needs one.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const { platform, arch, versions } = process;
const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;

let removedBytes = 0;
function remove(path) {
  for (const file of filesBelow(path)) removedBytes += statSync(file).size;
  rmSync(path, { recursive: true });
}

function filesBelow(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}

const own = `uws_${platform}_${arch}_${versions.modules}.node`;
let found = 0;
for (const name of ['uWebSockets.js', 'uws-pack']) {
  const folder = join('node_modules', name);
  if (!existsSync(folder)) continue;
  for (const file of filesBelow(folder).filter((path) => path.endsWith('.node'))) {
    if (file.endsWith(own)) found++;
    else remove(file);
  }
}
if (found === 0) throw new Error(`no build of uWebSockets.js has ${own}: use another version of Node`);

// npm installs the packages of both C libraries of Linux.
const otherLibrary = isGlibc ? /-musl$|-musleabi/ : /-gnu$|-gnueabi/;
for (const scope of ['@libsql', '@napi-rs']) {
  const folder = join('node_modules', scope);
  if (!existsSync(folder)) continue;
  for (const name of readdirSync(folder)) if (otherLibrary.test(name)) remove(join(folder, name));
}
console.log(`${Math.round(removedBytes / 1e6)} MB of other platforms removed`);
