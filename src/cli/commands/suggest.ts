// `hexcodes suggest CODE`: the valid codes that a mistyped code was probably meant to be.

import type { Command } from 'commander';
import { CliFailure, EXIT, requireCount } from '../../files/exit-codes.js';
import { loadLibrary } from '../../files/library.js';
import { requirePosition } from '../../files/request.js';
import { metres, paintFor } from '../../files/terminal/say.js';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { findCode } from '../../hexcodes/geometry/find-code.js';
import { otherText } from '../../hexcodes/geometry/other-text.js';
import { type Slip, suggest } from '../../hexcodes/geometry/suggest.js';
import { placeNear } from '../../hexcodes/library/places.js';
import { severalFailure, townWords } from './inspect.js';

interface Options {
  near?: string;
  limit: string;
  json?: boolean;
}

const SLIP_WORDS: Record<Slip, string> = {
  none: 'reads as it stands',
  twin: 'a look-alike',
  swap: 'two symbols swapped',
  substitution: 'one symbol wrong',
  extra: 'one symbol too many',
  missing: 'one symbol missing',
  province: 'another province',
};

export default function declare(program: Command): void {
  program
    .command('suggest')
    .description('List the valid hexcodes one slip away from a mistyped one.')
    .argument('<code>', 'the code as it was typed')
    .option('--near <lat,lng>', 'a position the place is probably close to: nearest suggestions first')
    .option('--limit <n>', 'suggestions at most', '10')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Exits with 1 if there is none: then more than one thing is wrong.

Towns nearby: © GeoNames, CC BY 4.0.

Examples:
  $ hexcodes suggest HN-6GHP4-83RFQ
  $ hexcodes suggest HN-6GHP4-83RFQ --near 21.03,105.85`,
    )
    .action(async (text: string, options: Options) => {
      const limit = requireCount('--limit', options.limit, 1, 1000);
      const near = options.near === undefined ? undefined : requirePosition(options.near, '--near');
      const hexcodes = await loadLibrary();
      const named = findCode(hexcodes, text);
      if (named?.kind === 'several') throw severalFailure(named.found);
      const found = suggest(hexcodes, named?.kind === 'code' ? named.hexcodes : text, {
        limit,
        ...(near === undefined ? {} : { near: [near.latDeg, near.lngDeg] as const }),
      });
      if (options.json === true) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
      else {
        const paint = paintFor(process.stdout);
        for (const each of found) {
          const province = ADMIN_UNITS.find((unit) => unit.code === each.admin_code)?.name ?? '';
          const near = placeNear(each.lat, each.lng);
          const town = near === null ? '' : `, ${townWords(near)}`;
          const away = each.distance_m === undefined ? '' : `, ${metres(each.distance_m)} away`;
          process.stdout.write(
            `${paint('bold', each.hexcodes.padEnd(18))}  ${province}  ${paint('dim', SLIP_WORDS[each.slip] + town + away)}\n`,
          );
        }
      }
      if (found.length === 0) {
        const isEnd = near === undefined && otherText(text) === 'part_of_code';
        throw new CliFailure(
          EXIT.FAILED,
          `no valid hexcode is one slip away from ${JSON.stringify(text)}`,
          isEnd
            ? 'It looks like the end of a code: --near LAT,LNG finds the one around a position.'
            : undefined,
        );
      }
    });
}
