// `hexcodes decode`: hexcodes to positions.

import type { Command } from 'commander';
import { FORMAT_TITLES } from '../../files/format.js';
import { convert, declareConvert } from './convert.js';

export default function declare(program: Command): void {
  const command = declareConvert(program, 'decode')
    .description(
      'Turn hexcodes into the positions of their cells: one on the command line, or the rows of files.',
    )
    .addHelpText(
      'after',
      `
Files are ${FORMAT_TITLES}, each also as .gz. Four columns are added: lat, lng,
resolution, status. Codes are read in any spelling: hn6ghp483rfr, HN 6GHP4 83RFR.

Examples:
  $ hexcodes decode HN-6GHP4-83RFR
  $ hexcodes decode orders.csv --column place -o orders.geojson
  $ hexcodes decode orders.csv --column place --prefix place_ --errors stop -o orders.xy.csv`,
    );
  command.action((what: string[], options, itself) => convert('decode', what, options, itself));
}
