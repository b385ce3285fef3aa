// `npm run data`: makes the boundary index from data/sources/; see data/README.md for its options.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { decodeReach, encodeReach } from '#dist/kernel/reach.js';
import { cutSources } from './build/cut-sources.js';
import { writeIndexFile } from './build/index-file.js';
import { drawPicture } from './build/picture.js';
import { buildReach, checkWithinReach, REACH_FILE } from './build/reach.js';
import { buildShippedMap, INDEX_FILE, LICENCE } from './build/shipped-map.js';
import { readLand } from './build/sources.js';

const { values } = parseArgs({
  options: {
    cut: { type: 'string' },
    picture: { type: 'string' },
    reach: { type: 'boolean', default: false },
    force: { type: 'boolean', default: false },
  },
});

if (values.cut !== undefined) cutSources(values.cut);
else if (values.picture !== undefined)
  writeFileSync(values.picture, drawPicture(readFileSync(INDEX_FILE), readLand()));
else if (values.reach) makeReach();
else makeIndex();

function makeIndex(): void {
  const { partition } = buildShippedMap();
  const file = writeIndexFile(partition, LICENCE);
  checkWithinReach(partition, file, decodeReach(readFileSync(REACH_FILE)));
  writeFileSync(INDEX_FILE, file);
  console.log(`${INDEX_FILE}: ${partition.left.length} lines, ${file.length} bytes`);
}

/** Once for each format of hexcodes: every change of a row would refuse codes that have been issued. */
function makeReach(): void {
  if (existsSync(REACH_FILE) && !values.force) {
    console.error(`${REACH_FILE} is frozen: codes in use rely on it. --force writes it anew.`);
    process.exitCode = 1;
    return;
  }
  const { partition } = buildShippedMap();
  const file = encodeReach(buildReach(partition, writeIndexFile(partition, LICENCE)));
  writeFileSync(REACH_FILE, file);
  console.log(`${REACH_FILE}: ${file.length} bytes`);
}
