// Texts of others on a terminal: nothing but plain text is left.
import { expect, test } from 'vitest';
import { visible, visibleMessage } from '#dist/files/terminal/say.js';

test('control characters, separators and marks of direction become escapes', () => {
  const codes = [0, 7, 8, 9, 10, 13, 0x1b, 0x7f, 0x80, 0x9b, 0x9f, 0x061c, 0x200e, 0x200f];
  codes.push(0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069);
  for (const code of codes) {
    expect(visible(`a${String.fromCharCode(code)}b`)).toBe(`a\\u${code.toString(16).padStart(4, '0')}b`);
  }
  expect(visible('Hà Nội – 河内 😀 \\u001b')).toBe('Hà Nội – 河内 😀 \\u001b');
});

test('a message keeps its lines, and masks keys', () => {
  expect(visibleMessage('a\n\tb\u001b[2J hxk_0123456789abcdef')).toBe('a\n\tb\\u001b[2J hxk_…');
});
