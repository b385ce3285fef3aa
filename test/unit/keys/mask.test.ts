// Keys in other texts are found and masked, whatever is around them.
import { expect, test } from 'vitest';
import { holdsKey, MIN_KEY_LENGTH, maskKeyTexts } from '#dist/config/mask.js';
import { makeKeyText } from '#dist/server/keys/secret.js';

test('keys of our form are masked, as often as they occur, in any case, and cut short', () => {
  const key = makeKeyText();
  const masked = maskKeyTexts(`a ${key}, ${key.toUpperCase()}; "${key.slice(0, 20)}" z`);
  expect(masked).toBe('a hxk_…, hxk_…; "hxk_…" z');
  expect(maskKeyTexts('hxk_ and HN-6GHP4-83RFR stay')).toBe('hxk_ and HN-6GHP4-83RFR stay');
});

test('a text holds a key of our form, or the one presented if it is long enough to be one', () => {
  expect(holdsKey(`id.${makeKeyText()}`)).toBe(true);
  expect(holdsKey('call-environment_key-0123', [undefined, 'environment_key-0123'])).toBe(true);
  const shortest = 'k'.repeat(MIN_KEY_LENGTH);
  expect(holdsKey(`a ${shortest}`, [shortest])).toBe(true);
  expect(holdsKey(`a ${shortest}`, [shortest.slice(1)])).toBe(false);
  expect(holdsKey('call-1', ['call-1'])).toBe(false);
  expect(holdsKey('call-1', ['', null])).toBe(false);
});
