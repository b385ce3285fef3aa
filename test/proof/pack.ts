// `npm run proof -- pack`: the three packages packed, npm install of their tarballs into an empty project, and every
// entry used there, on this Node and on the other supported ones: library, client and command on each, and `serve`,
// which listens or says why it cannot.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { canHaveOtherNodes, NODE_VERSIONS, otherNode } from '../support/other-nodes.js';
import { packInto } from '../support/packages.js';

const PROGRAM = `
import { Hexcodes } from 'hexcodes';
import { area, neighbors } from 'hexcodes/geometry';
import { Hexcodes as Web } from 'hexcodes/web';
import { HexcodesClient } from 'hexcodes/client';
const hexcodes = await Hexcodes.load();
const { hexcodes: code } = hexcodes.encode(21.0288, 105.8525);
const web = await Web.load();
if (web.encode(21.0288, 105.8525).hexcodes !== code) throw new Error('the web bundle answers otherwise');
console.log(process.version, code, neighbors(hexcodes, code).length, area(hexcodes, code).toFixed(1), typeof HexcodesClient);
`;

const REQUIRES = `
const { Hexcodes } = require('hexcodes');
const { neighbors } = require('hexcodes/geometry');
const { HexcodesClient } = require('hexcodes/client');
Hexcodes.load().then((hexcodes) => {
  const { hexcodes: code } = hexcodes.encode(21.0288, 105.8525);
  console.log('  by require():', code, neighbors(hexcodes, code).length, typeof HexcodesClient);
});
`;

const NODES_FOLDER = join('build', 'nodes');

/** The first line of `serve`, on either stream; the process is ended then. */
async function firstLineOfServe(node: string, command: string, folder: string): Promise<string> {
  const child = spawn(node, [command, 'serve', '--port', '0', '--admin-port', '0'], { cwd: folder });
  try {
    return await new Promise((resolve, reject) => {
      const finish = (text: Buffer): void => resolve(String(text).split('\n')[0] ?? '');
      child.stdout.once('data', finish);
      child.stderr.once('data', finish);
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`serve said nothing and ended with ${code}`)));
    });
  } finally {
    child.kill('SIGKILL');
  }
}

export default async function pack(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-pack-'));
  try {
    const packed = await packInto(folder, ['hexcodes', 'hexcodes-server', 'hexcodes-cli']);
    for (const { file, size, unpackedSize, files } of packed)
      console.log(`${basename(file)}: ${size} bytes, ${unpackedSize} unpacked, ${files.length} files`);
    writeFileSync(join(folder, 'package.json'), '{"name": "empty", "private": true, "type": "module"}');
    const tarballs = packed.map(({ file }) => file);
    // Streams of the client need ws, which the command brings.
    execFileSync('npm', ['install', '--no-audit', '--no-fund', ...tarballs], {
      cwd: folder,
      stdio: 'inherit',
    });
    writeFileSync(join(folder, 'main.js'), PROGRAM);
    writeFileSync(join(folder, 'main.cjs'), REQUIRES);
    const others = canHaveOtherNodes ? NODE_VERSIONS : [];
    const nodes = [process.execPath, ...others.map((version) => otherNode(version, NODES_FOLDER).path)];
    for (const node of nodes) {
      for (const program of ['main.js', 'main.cjs'])
        console.log(execFileSync(node, [program], { cwd: folder, encoding: 'utf8' }).trimEnd());
      const command = join(folder, 'node_modules', 'hexcodes-cli', 'bin', 'hexcodes.js');
      const ran = spawnSync(node, [command, 'encode', '21.0288,105.8525'], { cwd: folder, encoding: 'utf8' });
      if (ran.status !== 0) throw new Error(ran.stderr);
      console.log(`  hexcodes encode: ${ran.stdout.trim()}`);
      console.log(`  hexcodes serve: ${await firstLineOfServe(node, command, folder)}`);
    }
    const bin = spawnSync(join(folder, 'node_modules', '.bin', 'hexcodes'), ['--version'], {
      encoding: 'utf8',
    });
    if (bin.status !== 0) throw new Error(bin.stderr);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
