// Flat columns of every type of Arrow keep types and values on the way into Arrow and Parquet, by rows of bytes and
// value by value; pyarrow makes the files and compares.
import { beforeAll, expect, test } from 'vitest';
import { noPackage, packageNote, runPython } from '../../../support/python-env.js';
import { sharedCommand } from '../../../support/shared.js';

const SCRIPT = 'test/support/files/arrow_types.py';
const folder = sharedCommand();
beforeAll(async () => {
  if (noPackage !== undefined) return;
  expect(await runPython([SCRIPT, 'make', folder.file('in.arrow'), '51'])).toMatchObject({ code: 0 });
});

test.skipIf(noPackage !== undefined).each([
  ['by rows of bytes', 'arrow', []],
  ['by rows of bytes', 'parquet', ['--certainty', '--former']],
  ['value by value', 'arrow', ['--errors', 'failed.csv']],
  ['value by value', 'parquet', ['--errors', 'failed.csv']],
])(`%s into %s${packageNote}`, async (pipeline, format, options) => {
  const output = `out.${format}`;
  const ran = await folder.run(['encode', 'in.arrow', '-o', output, '--verbose', ...options]);
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining(pipeline)]);
  const checked = await runPython([SCRIPT, 'check', folder.file('in.arrow'), folder.file(output)]);
  expect(checked).toMatchObject({ code: 0, stdout: '' });
});

test.skipIf(noPackage !== undefined)(
  `Polars reads a file and a stream without rows${packageNote}`,
  async () => {
    folder.write('none.csv', 'id,lat,lng\n');
    for (const [output, read] of Object.entries({
      'none.arrow': 'read_ipc',
      'none.arrows': 'read_ipc_stream',
    })) {
      expect(await folder.run(['encode', 'none.csv', '-o', output, '-q'])).toMatchObject({ code: 0 });
      const line = `import polars, sys; print(polars.${read}(sys.argv[1]).shape)`;
      expect(await runPython(['-c', line, folder.file(output)])).toMatchObject({
        code: 0,
        stdout: '(0, 7)\n',
      });
    }
  },
);
