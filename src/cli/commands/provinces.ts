// `hexcodes provinces`: the 34 provinces, their codes, and the provinces that were merged into each.

import type { Command } from 'commander';
import { paintFor } from '../../files/terminal/say.js';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';

export default function declare(program: Command): void {
  program
    .command('provinces')
    .description(
      'List the 34 provinces and cities of 2025, their codes, and the units they were merged from.',
    )
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ hexcodes provinces
  $ hexcodes provinces --json | jq -r '.[] | select(.merged_units | index("Hà Giang")) | .code'`,
    )
    .action(({ json }: { json?: boolean }) => {
      process.stdout.write(json === true ? asJson() : asTable());
    });
}

function asJson(): string {
  const rows = ADMIN_UNITS.map(({ code, name, mergedUnits }) => ({ code, name, merged_units: mergedUnits }));
  return `${JSON.stringify(rows, null, 2)}\n`;
}

function asTable(): string {
  const paint = paintFor(process.stdout);
  const longest = Math.max(...ADMIN_UNITS.map(({ name }) => name.length));
  return ADMIN_UNITS.map(({ code, name, mergedUnits }) => {
    const merged = mergedUnits.length > 1 ? paint('dim', mergedUnits.join(', ')) : '';
    return `${`${paint('bold', code.padEnd(3))}  ${name.padEnd(longest)}  ${merged}`.trimEnd()}\n`;
  }).join('');
}
