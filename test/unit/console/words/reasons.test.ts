// Every reason that the readers give has a Vietnamese sentence.
import { expect, test } from 'vitest';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { BlockBuffers } from '#dist/hexcodes/wire/bulk/block-buffers.js';
import { FileConversion, requestFor } from '../../../support/console-conversion.js';
import { consoleModule } from '../../../support/console-module.js';

const { inVietnamese } = await consoleModule<{ inVietnamese(sentence: string): string }>('words/reasons.ts');
const { kernel } = await Hexcodes.load();
const ENGLISH = /\b(?:is|must|has|have|the|be|of)\b/;

function reasonsOf(bytes: Uint8Array): string[] {
  try {
    const conversion = new FileConversion(kernel, requestFor(bytes, 'csv', 13), new BlockBuffers());
    conversion.push(bytes);
    conversion.end();
    return conversion.tally.examples.flatMap(({ reasons }) => reasons);
  } catch (error) {
    return [(error as Error).message];
  }
}

test.each([
  'lat,lng\n,105\n',
  'lat,lng\nx,105\n',
  'lat,lng\n95,105\n',
  'lat,lng\n21,181\n',
  'lat,lng\n21\n',
  'lat,lng\n21,105,7\n',
  'lat,lng,resolution\n21,105,99\n',
  'lat,lng\n"21,105\n',
  'hexcodes\n""\n',
  'name,street\na,b\n',
  'lat,name\n21,b\n',
  'lat,lat,lng\n1,2,3\n',
  '"lat,lng',
  'lat,lng\n\0\n',
  '',
  `${'x'.repeat(70_000)}\n1`,
])('%j', (text) => {
  const reasons = reasonsOf(Buffer.from(text));
  expect(reasons.length).toBeGreaterThan(0);
  for (const reason of reasons) {
    expect(inVietnamese(reason)).not.toBe(reason);
    expect(inVietnamese(reason).replaceAll(/"[^"]*"/g, '')).not.toMatch(ENGLISH);
  }
});

test('bytes that are not UTF-8', () => {
  const bytes = Buffer.concat([
    Buffer.from('lat,lng\n21,105 '),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('\n'),
  ]);
  const [reason = ''] = reasonsOf(bytes);
  expect(inVietnamese(reason)).toMatch(/^byte \d+ không phải là UTF-8/);
});
