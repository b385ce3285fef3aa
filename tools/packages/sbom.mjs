// `npm run sbom`: what the package brings with it, as CycloneDX. `npm sbom --omit dev` leaves out packages that a tool
// of the developers needs, too (ws, since mqtt came), so all are listed, and those that the lock file marks as dev are
// taken out here.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { status, stdout, stderr } = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
if (status !== 0) {
  process.stderr.write(stderr);
  process.exit(1);
}
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const shipped = new Set(
  Object.entries(packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && dev !== true && link !== true)
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`),
);
// The root has the name of its folder there, and in its package.json one that no package is published by.
const bom = JSON.parse(stdout.replaceAll('hexcodes-workspaces@', 'hexcodes@'));
bom.metadata.component.name = 'hexcodes';
bom.components = bom.components.filter(({ name, version }) => shipped.has(`${name}@${version}`));

// Parts of the shipped files: bundled into the page, or linked into native code and WebAssembly. The packages of
// the binaries do not say which versions of their libraries they have, so those have none here.
const lockVersion = (name) => packages[`node_modules/${name}`].version;
const bundled = (name, license, where) => ({
  type: 'library',
  name,
  version: lockVersion(name),
  'bom-ref': `${name}@${lockVersion(name)}#${where}`,
  purl: `pkg:npm/${name}@${lockVersion(name)}`,
  licenses: [{ license: { id: license } }],
  properties: [{ name: 'hexcodes:bundled-into', value: where }],
});
const linked = (name, licenses, url, where) => ({
  type: 'library',
  name,
  'bom-ref': `${name}#${where}`,
  licenses: licenses.map((id) => ({ license: { id } })),
  externalReferences: [{ type: 'vcs', url }],
  properties: [{ name: 'hexcodes:linked-into', value: where }],
});
const IN_UWS = [
  ['uWebSockets', ['Apache-2.0'], 'https://github.com/uNetworking/uWebSockets'],
  ['uSockets', ['Apache-2.0'], 'https://github.com/uNetworking/uSockets'],
  ['BoringSSL', ['Apache-2.0', 'OpenSSL', 'ISC', 'MIT'], 'https://boringssl.googlesource.com/boringssl'],
  ['lsquic', ['MIT'], 'https://github.com/litespeedtech/lsquic'],
];
bom.components.push(
  bundled('maplibre-gl', 'BSD-3-Clause', 'hexcodes-server'),
  bundled('pmtiles', 'BSD-3-Clause', 'hexcodes-server'),
  bundled('uqr', 'MIT', 'hexcodes-server'),
  bundled('commander', 'MIT', 'hexcodes-cli'),
  bundled('@scalar/fastify-api-reference', 'MIT', 'hexcodes-server'),
  ...['hexcodes', 'hexcodes-cli', 'hexcodes-server'].map((where) => bundled('h3-js', 'Apache-2.0', where)),
  ...['uWebSockets.js', 'uws-pack'].flatMap((where) =>
    IN_UWS.map(([name, licenses, url]) => linked(name, licenses, url, `${where}@${lockVersion(where)}`)),
  ),
  linked('SQLite (libSQL)', ['MIT', 'blessing'], 'https://github.com/tursodatabase/libsql', 'libsql'),
  linked('H3', ['Apache-2.0'], 'https://github.com/uber/h3', 'h3-js'),
  linked('LZ4', ['BSD-2-Clause'], 'https://github.com/lz4/lz4', '@foxglove/wasm-lz4'),
);
const kept = new Set([bom.metadata.component, ...bom.components].map((component) => component['bom-ref']));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }));
console.log(JSON.stringify(bom, null, 2));
