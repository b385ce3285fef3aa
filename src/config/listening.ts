// Settings: where the service listens, and which data it serves.
import { integerOr, readablePath, textOr } from './readers.js';
import { Fault } from './setting.js';

export const LISTENING = {
  host: {
    variable: 'HEXCODES_HOST',
    flag: '--host',
    argument: '<address>',
    help: 'address to listen on (127.0.0.1)',
    read: textOr('127.0.0.1'),
  },
  port: {
    variable: 'HEXCODES_PORT',
    flag: '--port',
    argument: '<number>',
    help: 'port to listen on (8080; 0: any free one)',
    read: integerOr(8080, 0, 65_535),
  },
  adminHost: {
    variable: 'HEXCODES_ADMIN_HOST',
    flag: '--admin-host',
    argument: '<address>',
    help: 'address of /livez and /readyz (127.0.0.1)',
    read: textOr('127.0.0.1'),
  },
  adminPort: {
    variable: 'HEXCODES_ADMIN_PORT',
    flag: '--admin-port',
    argument: '<number>',
    help: 'port of /livez and /readyz (9090; 0: any free one)',
    read: integerOr(9090, 0, 65_535),
  },
  /** Names of the public DNS by which the admin port is asked, in lower case. */
  adminNames: {
    variable: 'HEXCODES_ADMIN_NAMES',
    flag: '--admin-names',
    argument: '<names>',
    help: 'names with public endings that the admin port is asked by, as metrics.example.com (none)',
    read: readNames,
  },
  /** Path of a boundary index of the user's own; undefined: the shipped one. */
  index: {
    variable: 'HEXCODES_INDEX',
    flag: '--index',
    argument: '<file>',
    help: 'boundary index to use instead of the shipped one',
    read: readablePath,
  },
  /** Path of a list of the provinces that codes may name; undefined: the shipped one. */
  reach: {
    variable: 'HEXCODES_REACH',
    flag: '--reach',
    argument: '<file>',
    help: 'reach file to use instead of the shipped one',
    read: readablePath,
  },
  /** The package of uWebSockets.js that serves; undefined: the newest that loads. */
  uws: {
    variable: 'HEXCODES_UWS',
    help: 'the package that serves (else the newest that loads: docs/transport.md)',
    read: (text: string | undefined) => text || undefined,
  },
};

function readNames(text: string | undefined): string[] {
  if (text === undefined || text.trim() === '') return [];
  const names = text.split(',').map((name) => name.trim().toLowerCase());
  const wrong = names.find((name) => !/^[a-z0-9_.-]+$/.test(name));
  if (wrong !== undefined) throw new Fault(`has ${JSON.stringify(wrong)}, which is no name of a host`);
  return names;
}
