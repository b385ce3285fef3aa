// Accept and Content-Type headers, as the service reads them.
import { expect, test } from 'vitest';
import { preferences, qualityOf, utf8TypeOf } from '#dist/server/media-types.js';

test('an Accept header is a list of names in lower case, each with its quality', () => {
  expect(preferences('Text/CSV;q=0.5, */* ; Q=0 ,application/json')).toEqual([
    { name: 'text/csv', quality: 0.5 },
    { name: '*/*', quality: 0 },
    { name: 'application/json', quality: 1 },
  ]);
  expect(preferences('')).toEqual([]);
  expect(preferences(' , ')).toEqual([]);
});

test.each(['text/csv;q=', 'text/csv;q=high', 'text/csv;q=-1', 'text/csv;q=.', 'text/csv;level=1'])(
  'a quality that cannot be read counts as 1: %s',
  (header) => expect(preferences(header)).toEqual([{ name: 'text/csv', quality: 1 }]),
);

test.each([
  ['application/json', 1],
  ['*/*;q=0.1, application/*;q=0.2, application/json;q=0.3', 0.3],
  ['application/json;q=0.3, application/*;q=0.2', 0.3],
  ['*/*, application/*;q=0', 0],
  ['application/json;q=0.0, */*', 0],
  ['application/json;q=0.4, application/json', 0.4],
  ['text/csv', 0],
  ['application/jsonp, application', 0],
])('the quality of application/json in “%s” is %d', (header, quality) => {
  expect(qualityOf('application/json', preferences(header))).toBe(quality);
});

test.each([
  ['application/json', 'application/json'],
  [' Application/JSON ; charset="UTF-8"', 'application/json'],
  ['text/csv;header=present;charset=us-ascii', 'text/csv'],
  ['text/csv; charset = utf8', 'text/csv'],
  ['', ''],
  ['text/csv;charset=latin1', undefined],
  ['text/csv;charset=', undefined],
  ['text/csv;charset=utf-8;charset=latin1', undefined],
])('the type of UTF-8 text in “%s” is %s', (header, type) => {
  expect(utf8TypeOf(header)).toBe(type);
});
