// `npm run data`: makes the boundary index from data/sources/; see data/README.md for its options.
import { parseArgs } from 'node:util';
import { cutSources } from './build/cut-sources.js';

const { values } = parseArgs({ options: { cut: { type: 'string' } } });
if (values.cut !== undefined) cutSources(values.cut);
