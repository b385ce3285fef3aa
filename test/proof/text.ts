// `npm run proof -- text --beside FOLDER [--size N] [--seed S]`: N rows (10 million) of hostile CSV, NDJSON, JSON
// batches and JSON frames, encode and decode, through this build and through that of another checkout: the same bytes
// and errors.
import { parseArgs } from 'node:util';
import type { Hexcodes } from '#hexcodes';
import { libraryModule } from '../../bench/beside.js';
import { HostileText, type TextWay } from '../support/hostile-text.js';
import { randomFrom } from '../support/open-world.js';

export default async function proveText(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      beside: { type: 'string' },
      size: { type: 'string', default: '10000000' },
      seed: { type: 'string', default: '20261124' },
    },
  });
  if (values.beside === undefined)
    throw new Error('--beside FOLDER is required: another checkout that is built');
  const texts = new HostileText(
    await wayIn('.'),
    await wayIn(values.beside),
    randomFrom(Number(values.seed)),
  );
  for (let said = 0; texts.rows < Number(values.size) && texts.wrong.length === 0; ) {
    texts.round();
    if (texts.rows - said < 500_000) continue;
    said = texts.rows;
    console.error(said.toLocaleString('en'));
  }
  for (const line of texts.wrong) console.log(line);
  console.log(
    `text: ${texts.rows} rows in ${texts.texts} texts, ${texts.refused} of them refused, seed ${values.seed}, ` +
      `Node ${process.version}: ${texts.wrong.length} texts differ`,
  );
  if (texts.wrong.length > 0) process.exitCode = 1;
}

async function wayIn(folder: string): Promise<TextWay> {
  const [library, block, reader, bytes, batch, frame] = await Promise.all([
    libraryModule<{ Hexcodes: typeof Hexcodes }>(folder, 'library/hexcodes.js'),
    libraryModule<Pick<TextWay, 'convertBlock'>>(folder, 'wire/bulk/convert-block.js'),
    libraryModule<Pick<TextWay, 'BulkReader'>>(folder, 'wire/bulk/reader.js'),
    libraryModule<Pick<TextWay, 'ByteSink'>>(folder, 'wire/bytes/byte-sink.js'),
    libraryModule<TextWay['batch']>(folder, 'wire/rows/batch.js'),
    libraryModule<Pick<TextWay, 'answerJsonFrame'>>(folder, 'wire/rows/json-frame.js'),
  ]);
  const { kernel } = await library.Hexcodes.load();
  return { kernel, ...block, ...reader, ...bytes, batch, ...frame };
}
