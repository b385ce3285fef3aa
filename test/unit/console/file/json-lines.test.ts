// Lines of JSON become lines that the readers take, where their positions have other names or are no two numbers.
import { expect, test } from 'vitest';
import { consoleModule } from '../../../support/console-module.js';

const { lineRewriter } = await consoleModule<{
  lineRewriter(beginning: string, isAll: boolean): ((line: string) => string) | undefined;
}>('file/json-lines.ts');

const LAT_LNG = '{"lat":21.03,"lng":105.85}';

test.each([
  ['{"name":"a","location":{"lat":21.03,"lng":105.85}}', LAT_LNG],
  [
    '{"id":7,"resolution":9,"at":{"type":"Point","coordinates":[105.85,21.03]}}',
    '{"id":7,"resolution":9,"lat":21.03,"lng":105.85}',
  ],
  ['{"latitude":21.03,"longitude":105.85}', LAT_LNG],
  ['{"Vĩ độ":"21,03","Kinh độ":"105,85"}', LAT_LNG],
  [`{"lat":"21°01'30\\"N","lng":"105°51'00\\"E"}`, '{"lat":21.025,"lng":105.85}'],
  ['{"vị trí":"21.03, 105.85"}', LAT_LNG],
])('%s', (line, wanted) => {
  expect(lineRewriter(`${line}\n`, true)?.(line)).toBe(wanted);
});

test.each([
  LAT_LNG,
  '{"hexcodes":"HN-6GHP4-83RFR"}',
  '"HN-6GHP4-83RFR"',
  '[21.03,105.85]',
  '{"a":{"b":1}}',
  '',
])('%j is taken as it is', (line) => {
  expect(lineRewriter(line, true)).toBe(undefined);
});

test('a line that is no object stays, and one without a position gets null, which is named as a fault', () => {
  const rewrite = lineRewriter('{"at":{"lat":1,"lng":2}}\n{"at":{"l', false)!;
  expect(rewrite('{"at":')).toBe('{"at":');
  expect(rewrite('[1,2]')).toBe('[1,2]');
  expect(rewrite('{"at":{}}')).toBe('{"lat":null,"lng":null}');
});
