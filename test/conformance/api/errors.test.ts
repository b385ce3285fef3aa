// The catalogue of status words on /docs: every word of the service and of its rows, under every HTTP status that has
// it.
import { expect, test } from 'vitest';
import { ROW_STATUSES } from '#dist/hexcodes/wire/job.js';
import { wordOf } from '#dist/server/answers.js';
import { REASONS } from '#dist/server/api/document.js';
import { STATUS_CATALOGUE } from '#dist/server/api/error-catalogue.js';
import { apiPage } from '#dist/server/api/page/page.js';

const entryOf = (word: string) => STATUS_CATALOGUE.find((entry) => entry.word === word);

test('every HTTP status of an error stands under its word', () => {
  // Beside those of the description: a wrong method, and a stream without its handshake.
  for (const status of [...Object.keys(REASONS).map(Number), 405, 426]) {
    expect(entryOf(wordOf(status))?.http, `${status}`).toContain(status);
  }
  const errors = STATUS_CATALOGUE.filter(({ word }) => word !== 'OK' && word !== 'INVALID_HEXCODES');
  for (const { word, http } of errors) expect([...new Set(http.map(wordOf))]).toEqual([word]);
});

test('every status of a row has its entry, and every entry says what to do, on the page too', () => {
  const { html } = apiPage([]);
  for (const word of ROW_STATUSES) expect(entryOf(word), word).toBeDefined();
  for (const { word, meaning, remedy } of STATUS_CATALOGUE) {
    expect(meaning.length * remedy.length).toBeGreaterThan(0);
    expect(html).toContain(`id="status-${word}"`);
  }
});
