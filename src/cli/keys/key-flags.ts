// The flags that say what a key may do, as the JSON that manage/key-input.ts reads.
import type { Command } from 'commander';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { SCOPES } from '../../server/keys/key-record.js';
import { LIMIT_NAMES } from '../../server/keys/manage/key-json.js';

/** Takes the place of all entries of a list. */
const ANY = 'any';

const collect = (text: string, before: readonly string[] = []): string[] => [...before, ...text.split(',')];

const LIMIT_HELP: Readonly<Record<string, string>> = {
  points_per_second: 'most points a second, on average',
  points_burst: 'points that may come at once (as many as in a second)',
  requests_per_second: 'most requests a second, on average',
  requests_burst: 'requests that may come at once (as many as in a second)',
  points_per_day: 'most points a day',
  points_per_month: 'most points a month',
};

export function addKeyFlags(command: Command): Command {
  command
    .option('--scope <scopes>', `what it may do: ${SCOPES.join(', ')} (encode,decode,bulk,lookup)`, collect)
    .option('--expires <time>', 'when it ends: 90d, 2027-01-31, 2027-01-31T17:00:00Z, never')
    .option(
      '--origin <origin>',
      'web origin it is let in from, as https://a.vn or https://*.a.vn; any',
      collect,
    )
    .option('--cidr <network>', 'network it is let in from, as 192.0.2.0/24 or 2001:db8::/32; any', collect);
  for (const [, name] of LIMIT_NAMES)
    command.option(`--${name.replaceAll('_', '-')} <number>`, `${LIMIT_HELP[name]}; none, default`);
  return command;
}

/** Settings from the flags that are given. */
export function settingsJson(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const lists = { scopes: options.scope, origins: options.origin, cidrs: options.cidr };
  const settings: Record<string, unknown> = {};
  for (const [name, list] of Object.entries(lists)) {
    if (list === undefined) continue;
    const isAny = name !== 'scopes' && (list as string[]).join() === ANY;
    settings[name] = isAny ? [] : list;
  }
  if (options.expires !== undefined) settings.expires = options.expires;
  return settings;
}

/** The limits with those of the flags in place of what was there. */
export function limitsJson(
  options: Readonly<Record<string, unknown>>,
  before: Readonly<Record<string, number>>,
): Record<string, number> {
  const limits = { ...before };
  for (const [member, name] of LIMIT_NAMES) {
    const text = options[member] as string | undefined;
    if (text === undefined) continue;
    if (text === 'default') delete limits[name];
    else if (text === 'none') limits[name] = 0;
    else if (/^\d{1,15}(\.\d{1,6})?$/.test(text)) limits[name] = Number(text);
    else {
      const flag = `--${name.replaceAll('_', '-')}`;
      throw new CliFailure(EXIT.FAILED, `${flag} must be a number, none or default`);
    }
  }
  return limits;
}
