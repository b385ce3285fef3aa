// Configuration of `serve` from flags and environment: every fault named at once. A flag wins over its variable. The
// settings stand in config/, a file for each trade; a new one is an entry there, and everything follows from it: its
// type here, its flag, its line of help. Secrets have no flag: arguments can be read by every user of the machine.
import { BOUNDS } from './config/bounds.js';
import { KEYS } from './config/keys.js';
import { LIFE_CYCLE } from './config/life-cycle.js';
import { LISTENING } from './config/listening.js';
import { LOGGING } from './config/logging.js';
import { type ConfigOf, Fault, type Setting } from './config/setting.js';

export type { LogLevel } from './config/logging.js';

const SETTINGS = { ...LISTENING, ...KEYS, ...BOUNDS, ...LOGGING, ...LIFE_CYCLE };

export type ServeConfig = ConfigOf<typeof SETTINGS>;

/** Every fault of a configuration, one line each. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

/** The flags of some settings, in commander's notation. */
export function flagsOf(names: readonly (keyof ServeConfig)[]): { flags: string; help: string }[] {
  return names.flatMap((name) => {
    const { flag, argument, variable, help }: Setting<unknown> = SETTINGS[name];
    if (flag === undefined) return [];
    const flags = argument === undefined ? flag : `${flag} ${argument}`;
    return [{ flags, help: `${help} [${variable}]` }];
  });
}

/** The settings among them that come from the environment only. */
export function secretsOf(names: readonly (keyof ServeConfig)[]): { variable: string; help: string }[] {
  return names.flatMap((name) => {
    const { flag, variable, help }: Setting<unknown> = SETTINGS[name];
    return flag === undefined ? [{ variable, help }] : [];
  });
}

export const SETTING_NAMES = Object.keys(SETTINGS) as (keyof ServeConfig)[];

/** Reads some settings; throws a ConfigError that names every fault. */
export function readConfig<K extends keyof ServeConfig>(
  names: readonly K[],
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): Pick<ServeConfig, K> {
  const faults: string[] = [];
  const config: Partial<Record<K, unknown>> = {};
  for (const name of names) {
    const setting: Setting<unknown> = SETTINGS[name];
    const byFlag = setting.flag === undefined ? undefined : (flags[name] as string | undefined);
    try {
      config[name] = setting.read(byFlag ?? env[setting.variable]);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      faults.push(`${byFlag === undefined ? setting.variable : setting.flag} ${error.message}`);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return config as Pick<ServeConfig, K>;
}
