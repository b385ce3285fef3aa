// Calls of the admin port, as plain data: they are made in one thread and answered in another.

import { type KeyState, NEW_KEY } from '../key-record.js';
import type { KeyStore } from '../store/key-store.js';
import { KeyChanger, type MadeKey } from './key-changes.js';
import {
  KeyFault,
  type KeyJson,
  keyJson,
  parseDuration,
  readKeySettings,
  type SettingFault,
} from './key-input.js';

export type KeyCall =
  | { readonly op: 'list' }
  | { readonly op: 'show'; readonly id: string }
  /** `settings` as JSON.parse has made them. */
  | { readonly op: 'create'; readonly settings: unknown }
  | { readonly op: 'set'; readonly id: string; readonly settings: unknown }
  | { readonly op: 'state'; readonly id: string; readonly state: KeyState }
  | { readonly op: 'rotate'; readonly id: string; readonly overlap: unknown };

/** A key with its text, which is shown here and never again. */
export interface MadeKeyJson extends KeyJson {
  readonly key: string;
}

export type KeyAnswer =
  | { readonly kind: 'done'; readonly value: KeyJson | MadeKeyJson | readonly KeyJson[] }
  | {
      readonly kind: KeyFault['kind'] | 'unavailable';
      readonly message: string;
      readonly faults: readonly SettingFault[];
    };

export const DEFAULT_OVERLAP = '24h';

/** Errors of the store are thrown on. */
export async function answerCall(store: KeyStore, pepper: string, call: KeyCall): Promise<KeyAnswer> {
  try {
    return { kind: 'done', value: await answerValue(store, pepper, call) };
  } catch (error) {
    if (!(error instanceof KeyFault)) throw error;
    return { kind: error.kind, message: error.message, faults: error.faults };
  }
}

async function answerValue(store: KeyStore, pepper: string, call: KeyCall) {
  const changer = new KeyChanger(store);
  switch (call.op) {
    case 'list':
      return (await store.keys()).map(keyJson);
    case 'show': {
      const key = await store.find(call.id);
      if (key === undefined) throw new KeyFault('unknown', `there is no key ${call.id}`);
      return keyJson(key);
    }
    case 'create': {
      const settings = readKeySettings(call.settings, NEW_KEY, Date.now());
      return made((keep) => changer.create(settings, pepper, keep));
    }
    case 'set':
      return keyJson(
        await changer.update(call.id, (before) => readKeySettings(call.settings, before, Date.now())),
      );
    case 'state':
      return keyJson(await changer.setState(call.id, call.state));
    case 'rotate': {
      const overlapMs = parseDuration(String(call.overlap ?? DEFAULT_OVERLAP));
      if (overlapMs === undefined) {
        const fault = { setting: 'overlap', message: 'must be a duration as 24h, 7d or 0' };
        throw new KeyFault('invalid', `${fault.setting} ${fault.message}`, [fault]);
      }
      return made((keep) => changer.rotate(call.id, overlapMs, pepper, keep));
    }
  }
}

async function made(make: (keep: (made: MadeKey) => void) => Promise<void>): Promise<MadeKeyJson> {
  let kept: MadeKey | undefined;
  await make((given) => {
    kept = given;
  });
  const { key, keyText } = kept as unknown as MadeKey;
  return { ...keyJson(key), key: keyText };
}
