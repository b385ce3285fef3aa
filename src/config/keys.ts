// Settings: the key store and its secrets.
import { readFileSync } from 'node:fs';
import { Fault, textOr } from './setting.js';

export interface GivenKey {
  readonly name: string;
  readonly secret: string;
}

export const KEYS = {
  dataDir: {
    variable: 'HEXCODES_DATA_DIR',
    flag: '--data-dir',
    argument: '<folder>',
    help: 'folder of the key store (./var)',
    read: textOr('var'),
  },
  /** Undefined: the file in the data folder. */
  store: {
    variable: 'HEXCODES_STORE',
    isSecret: true,
    help: 'database that several nodes share, postgres://user:password@host/database (else a file of the data folder)',
    read: readStore,
  },
  keyPepper: {
    variable: 'HEXCODES_KEY_PEPPER',
    isSecret: true,
    help: 'keys are hashed under it (else a file of the data folder)',
    read: readPepper,
  },
  /** The content of the file. */
  keyPepperFile: {
    variable: 'HEXCODES_KEY_PEPPER_FILE',
    isSecret: true,
    help: 'file that holds what HEXCODES_KEY_PEPPER would',
    read: (path: string | undefined) => readPepper(readSecretFile(path)),
  },
  apiKeys: {
    variable: 'HEXCODES_API_KEYS',
    isSecret: true,
    help: 'further keys, name:secret,name:secret; kept in memory only',
    read: readApiKeys,
  },
  /** The content of the file. */
  apiKeysFile: {
    variable: 'HEXCODES_API_KEYS_FILE',
    isSecret: true,
    help: 'file that holds what HEXCODES_API_KEYS would, also one a line',
    read: (path: string | undefined) => readApiKeys(readSecretFile(path)?.replace(/[\r\n]+/g, ',')),
  },
};

/** The text of a file without the blanks at its ends; messages never repeat it. */
function readSecretFile(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch {
    throw new Fault(`names a file that cannot be read: ${path}`);
  }
  if (text === '') throw new Fault(`names an empty file: ${path}`);
  return text;
}

function readStore(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!/^postgres(ql)?:\/\//.test(text)) throw new Fault('must begin with postgres://');
  return text;
}

function readPepper(text: string | undefined): string | undefined {
  if (text !== undefined && text.length < 16) throw new Fault('must have at least 16 characters');
  return text;
}

/** `name:secret,…`; messages never repeat a secret. */
function readApiKeys(text: string | undefined): readonly GivenKey[] {
  if (text === undefined || text === '') return [];
  const keys = text.split(',').map((pair, index) => {
    const match = /^([^:\s]+):([A-Za-z0-9_-]{16,})$/.exec(pair.trim());
    if (match === null) {
      throw new Fault(
        `entry ${index + 1} must be name:secret, the secret at least 16 characters of A-Z a-z 0-9 _ -`,
      );
    }
    return { name: match[1] as string, secret: match[2] as string };
  });
  for (const part of ['name', 'secret'] as const) {
    if (new Set(keys.map((key) => key[part])).size < keys.length) throw new Fault(`has one ${part} twice`);
  }
  return keys;
}
