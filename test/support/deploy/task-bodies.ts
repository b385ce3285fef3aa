// Bulk bodies by curl through a proxy, fast or slow, of known length or in chunks: each answer must be whole and right.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { randomFrom } from '../open-world.js';
import { COMMAND_KEY } from '../server-process.js';
import type { Behind } from './proxies.js';
import type { TaskOptions, TaskResult } from './task.js';

// A CSV body of any length, of one block of rows repeated, and the check of its answer while it comes: every byte of
// it, without keeping any.

const HEADER = 'lat,lng\n';
const BLOCK_ROWS = 4096;

export class RepeatedBody {
  readonly #block: Buffer;
  readonly blocks: number;
  #answerHead = Buffer.alloc(0);
  #answerBlock = Buffer.alloc(0);

  constructor(megabytes: number) {
    const random = randomFrom(7);
    const rows = Array.from({ length: BLOCK_ROWS }, () => {
      const lat = (20.9 + random() * 0.2).toFixed(4);
      return `${lat},${(105.7 + random() * 0.2).toFixed(4)}\n`;
    });
    this.#block = Buffer.from(rows.join(''));
    this.blocks = Math.max(1, Math.floor((megabytes * 1e6) / this.#block.length));
  }

  get sizeBytes(): number {
    return HEADER.length + this.blocks * this.#block.length;
  }

  get answerBytes(): number {
    return this.#answerHead.length + this.blocks * this.#answerBlock.length;
  }

  /** Asks a node itself for the answer to one block, whose rows all have a code. */
  async learnAnswer(base: string, key: string): Promise<void> {
    const answer = await fetch(`${base}/v1/hexcodes/encode/bulk`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'text/csv' },
      body: HEADER + this.#block.toString(),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const rows = bytes.toString().split('\n').slice(1, -1);
    const bad = rows.find((row) => !row.endsWith(',OK'));
    if (rows.length !== BLOCK_ROWS || bad !== undefined) throw new Error(`a block is answered so: ${bad}`);
    const headBytes = bytes.indexOf('\n') + 1;
    this.#answerHead = bytes.subarray(0, headBytes);
    this.#answerBlock = bytes.subarray(headBytes);
  }

  /** The header and that many blocks, as they are sent. */
  *chunks(blocks = this.blocks): Generator<Buffer> {
    yield Buffer.from(HEADER);
    for (let i = 0; i < blocks; i++) yield this.#block;
  }

  write(path: string): Promise<void> {
    return pipeline(Readable.from(this.chunks()), createWriteStream(path));
  }

  check(): AnswerCheck {
    return new AnswerCheck(this.#answerHead, this.#answerBlock, this.answerBytes);
  }
}

/** Compares an answer with the one that is due, as it comes. */
class AnswerCheck {
  bytes = 0;
  #fault: string | undefined;

  constructor(
    private readonly head: Buffer,
    private readonly block: Buffer,
    private readonly dueBytes: number,
  ) {}

  add(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && this.#fault === undefined) {
      const isHead = this.bytes < this.head.length;
      const due = isHead ? this.head : this.block;
      const from = isHead ? this.bytes : (this.bytes - this.head.length) % this.block.length;
      const count = Math.min(due.length - from, chunk.length - at);
      if (due.compare(chunk, at, at + count, from, from + count) !== 0)
        this.#fault = `other bytes than due behind byte ${this.bytes}`;
      this.bytes += count;
      at += count;
    }
  }

  /** Undefined if the answer is whole and right. */
  get fault(): string | undefined {
    if (this.#fault !== undefined) return this.#fault;
    return this.bytes === this.dueBytes ? undefined : `${this.bytes} of ${this.dueBytes} bytes`;
  }
}

/** Level of a log line. */
const WARNING = 40;
const BULK = '/v1/hexcodes/encode/bulk';

export async function sendBodies({ base, nodes }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { megabytes = 20, rate, isChunked = false, isHttp1 = false } = options;
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-bodies-'));
  const faults: string[] = [];
  const notes: string[] = [];
  let done = 0;
  try {
    const body = new RepeatedBody(megabytes);
    await body.learnAnswer(await nodes[0]!.base(), COMMAND_KEY);
    const path = join(folder, 'body.csv');
    await body.write(path);
    const settings = [
      ...(isHttp1 ? ['--http1.1'] : []),
      ...(rate === undefined ? [] : ['--limit-rate', rate]),
      ...['-T', isChunked ? '-' : path, `${base}${BULK}`],
    ];
    const check = body.check();
    const fault = await sendOne(settings, isChunked ? path : undefined, check);
    if (fault === undefined) done++;
    else faults.push(fault);
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const node of nodes)
    for (const { level, msg, reason } of node.log)
      if (Number(level) >= WARNING) notes.push(`${msg}: ${reason}`);
  return { done, faults, notes };
}

/** @param input path of what curl gets as its input */
async function sendOne(
  settings: readonly string[],
  input: string | undefined,
  check: AnswerCheck,
): Promise<string | undefined> {
  const args = [
    '-sS',
    '-k',
    '-X',
    'POST',
    '-w',
    '%{stderr}%{http_code} by HTTP/%{http_version}',
    ...settings,
  ];
  const headers = ['-H', 'Content-Type: text/csv', '-H', `X-API-Key: ${COMMAND_KEY}`];
  const child = spawn('curl', [...args, ...headers], { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin!.on('error', () => {});
  if (input !== undefined) createReadStream(input).pipe(child.stdin!);
  else child.stdin!.end();
  let said = '';
  child.stdout!.on('data', (chunk: Buffer) => check.add(chunk));
  child.stderr!.on('data', (text: Buffer) => (said += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  const isFine = code === 0 && said.startsWith('200 ') && check.fault === undefined;
  return isFine ? undefined : `curl ended with ${code}, ${said}; ${check.fault ?? 'the answer is whole'}`;
}
