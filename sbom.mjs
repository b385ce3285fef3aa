// `npm run sbom`: what the package brings with it, as CycloneDX. `npm sbom --omit dev` leaves out packages that a tool of the
// developers needs, too (ws, since mqtt came), so all are listed, and those that the lock file marks as dev are taken out here.
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
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`),
);
const bom = JSON.parse(stdout);
bom.components = bom.components.filter(({ name, version }) => shipped.has(`${name}@${version}`));
const kept = new Set([bom.metadata.component, ...bom.components].map((component) => component['bom-ref']));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }));
console.log(JSON.stringify(bom, null, 2));
