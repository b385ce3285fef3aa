// `hexcodes encode`: positions to hexcodes.

import type { Command } from 'commander';
import { FORMAT_TITLES } from '../../files/format.js';
import { convert, declareConvert } from './convert.js';

export default function declare(program: Command): void {
  const command = declareConvert(program, 'encode')
    .description(
      'Turn positions into hexcodes: one on the command line, or the rows of files, in their order.',
    )
    .addHelpText(
      'after',
      `
Files are ${FORMAT_TITLES}, each also as .gz. Four columns are added:
hexcodes, resolution, admin_code, status. A column "resolution" of the input is read row by row.
A failed row has the status NOT_FOUND (in no province) or INVALID_REQUEST (not a position or resolution), and the
resolution that was asked for. --errors stop ends the run at the first, with exit code 1 and without output; a FILE has
the format of its extension, else of the output.

Columns of --sort cell: hexcode, the canonical code, by which rows are sorted (those of one code in the order of the
input, failed ones last); h3, the H3 index, an unsigned integer of 64 bits; resolution, admin_code, status; and xmin,
ymin, xmax, ymax, the box of the cell as in GeoParquet, in degrees, rounded outwards to 1e-7. Rows beyond --memory use a
folder in TMPDIR.

Examples:
  $ hexcodes encode 21.0288,105.8525
  $ hexcodes encode shops.csv -o shops.hex.csv
  $ hexcodes encode tracks.parquet --lat y --lng x -r 10 -o tracks.hex.parquet
  $ hexcodes encode tracks.parquet --sort cell -o sorted.parquet
  $ zcat pings.ndjson.gz | hexcodes encode --errors skip | gzip > pings.hex.ndjson.gz
  $ hexcodes encode big.csv -o big.hex.csv --errors failed.csv --resume`,
    );
  command.action((what: string[], options, itself) => convert('encode', what, options, itself));
}
