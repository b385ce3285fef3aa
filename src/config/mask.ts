// Masks keys in other texts: request ids, methods, messages and log lines may quote the input of a client or a
// person.

/** Minimum length of keys, those of the environment included. */
export const MIN_KEY_LENGTH = 16;

/** Secrets made by `makeKeyText`, even truncated or in another case; not the bare prefix. */
const KEY_TEXT = /hxk_[A-Za-z0-9_-]{8,}/gi;

/** The text with every key of our form replaced by `hxk_…`. */
export function maskKeyTexts(text: string): string {
  return text.replace(KEY_TEXT, 'hxk_…');
}

/** The text without keys of our form and without those that a request presents, which may have any form. */
export function withoutKeys(text: string, presented: readonly (string | undefined | null)[]): string {
  return presented.reduce<string>(
    (rest, key) => (key && key.length >= MIN_KEY_LENGTH ? rest.replaceAll(key, '…') : rest),
    maskKeyTexts(text),
  );
}

/** Whether a text holds a key of our form, or one of the keys that a request presents, which may have any form. */
export function holdsKey(text: string, presented: readonly (string | undefined | null)[] = []): boolean {
  if (text.search(KEY_TEXT) !== -1) return true;
  return presented.some((key) => key && key.length >= MIN_KEY_LENGTH && text.includes(key));
}

/** The key in the value of an Authorization header; undefined for another scheme, which is for a proxy in front. */
export function keyInCredentials(value: string): string | undefined {
  return /^(?:ApiKey|Bearer) +(\S+) *$/i.exec(value)?.[1];
}
