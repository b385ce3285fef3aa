// `npm run data`: makes the boundary index from data/sources/; see data/README.md for its options.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { cutSources } from './build/cut-sources.js';
import { writeIndexFile } from './build/index-file.js';
import { drawPicture } from './build/picture.js';
import { buildShippedMap, INDEX_FILE, LICENCE } from './build/shipped-map.js';
import { readLand } from './build/sources.js';

const { values } = parseArgs({ options: { cut: { type: 'string' }, picture: { type: 'string' } } });
if (values.cut !== undefined) cutSources(values.cut);
else if (values.picture !== undefined)
  writeFileSync(values.picture, drawPicture(readFileSync(INDEX_FILE), readLand()));
else {
  const { partition } = buildShippedMap();
  const file = writeIndexFile(partition, LICENCE);
  writeFileSync(INDEX_FILE, file);
  console.log(`${INDEX_FILE}: ${partition.left.length} lines, ${file.length} bytes`);
}
