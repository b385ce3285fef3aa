// `npm run proof -- upload [--megabytes 10000] [--times 1] [--net small|system] [--file]`: curl uploads CSV as fast as
// it can and reads its answers meanwhile, in a network namespace; from a pipe in chunks, or from a file with its
// length. Every row must be answered, however often it is done; memory of the service is recorded. With `small` no peer
// can fill the transport's receive buffer (docs/http.md).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { runInNamespace } from '../support/network.js';
import { ServerProcess } from '../support/server-process.js';
import { optionsOf, report } from './run-length.js';

const HEADER = 'lat,lng\n';
const ROW = '21.0288,105.8525\n';

export default async function proveUploads(args: string[]): Promise<void> {
  const values = optionsOf(args, {
    megabytes: '10000',
    times: '1',
    net: 'small',
    file: false,
    inside: false,
  });
  if (!values.inside) {
    const inner = [process.execPath, process.argv[1]!, 'upload', ...args, '--inside'];
    if (runInNamespace(values.net, inner) !== 0) process.exitCode = 1;
    return;
  }
  const rows = Math.floor((Number(values.megabytes) * 1e6) / ROW.length);
  const times = Number(values.times);
  const faults: string[] = [];
  const server = await ServerProcess.start();
  try {
    await answeredRows(server, 100_000);
    const quietMb = server.memoryMb().now;
    server.resetPeak();
    for (let time = 0; time < times; time++) {
      const answered = await answeredRows(server, rows, values.file);
      if (answered !== rows) faults.push(`upload ${time + 1}: ${answered} of ${rows} rows were answered`);
    }
    const { peak } = server.memoryMb();
    const size = `${times} × ${values.megabytes} MB from a ${values.file ? 'file' : 'pipe'}, ${rows} rows each`;
    const memory = `${quietMb.toFixed(0)} MiB before, ${peak.toFixed(0)} MiB at most`;
    report('upload', `${size}, tcp_rmem ${values.net}, ${memory}`, 0, faults);
  } finally {
    await server.kill();
  }
}

/** Rows of the answer that have the code, to one upload by curl. */
async function answeredRows(server: ServerProcess, rows: number, fromFile = false): Promise<number> {
  const body = `{ printf '${HEADER}'; yes '${ROW.trimEnd()}' | head -n ${rows}; }`;
  const [before, source] = fromFile ? [`${body} > "$FILE";`, '"$FILE"'] : [`${body} |`, '-'];
  const curl = `curl -sS -X POST -T ${source} -H 'Content-Type: text/csv' -H "X-API-Key: $KEY" "$BASE/hexcodes/encode/bulk"`;
  const child = spawn('sh', ['-c', `${before} ${curl} | grep -c ',HN-6GHP4-83RFR,'`], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, KEY: server.key, BASE: server.base, FILE: join(server.dataDir, 'body.csv') },
  });
  let out = '';
  child.stdout.on('data', (text: Buffer) => {
    out += text.toString();
  });
  await once(child, 'close');
  return Number(out);
}
