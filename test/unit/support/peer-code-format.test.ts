// The peer implementation that proofs compare with must itself agree with the recorded vectors.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { encodeByPeer, packByPeer } from '../../support/peers/code-format.js';

test('every recorded code', () => {
  const [, ...rows] = readFileSync('test/vectors/codes.csv', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(rows.length).toBeGreaterThan(600);
  for (const row of rows) {
    const [, lat, lng, resolution, adminCode, cell, code] = row.split(',') as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    expect(packByPeer(cell, adminCode)).toBe(code);
    expect(encodeByPeer(Number(lat), Number(lng), Number(resolution), adminCode)).toBe(code);
  }
});
