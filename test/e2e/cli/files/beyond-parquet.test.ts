// Values of an Arrow file that Parquet has no place for: the file is named.
import {
  Field,
  Float64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimeSecond,
  tableToIPC,
} from 'apache-arrow';
import { expect, test } from 'vitest';
import { CliFolder } from '../../../support/cli.js';

test('a time of day beyond 32 bits is refused with the name of its file', async () => {
  const fields = [
    new Field('lat', new Float64()),
    new Field('lng', new Float64()),
    new Field('time', new TimeSecond()),
  ];
  const children = [
    makeData({ type: new Float64(), data: Float64Array.of(21.0288) }),
    makeData({ type: new Float64(), data: Float64Array.of(105.8525) }),
    makeData({ type: new TimeSecond(), data: Int32Array.of(33_558_155) }),
  ];
  const schema = new Schema(fields);
  const batch = new RecordBatch(schema, makeData({ type: new Struct(fields), length: 1, children }));
  const folder = new CliFolder();
  folder.write('times.arrow', tableToIPC(new Table(schema, batch), 'file'));
  const ran = await folder.run(['encode', 'times.arrow', '-o', 'out.parquet', '-q']);
  folder.remove();
  expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining('times.arrow, row 1, column time')]);
});
