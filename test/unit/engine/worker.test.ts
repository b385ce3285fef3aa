// A worker over a bus of the test: what is stored, accepted, given back and tried again; its memory and marks.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Engine, type Outgoing, type Received, type Stored, StoreFault } from '#dist/bus/engine.js';
import { Marks } from '#dist/bus/nats/collector.js';
import { Outbox } from '#dist/bus/nats/nats-engine.js';
import { PatientStore } from '#dist/bus/patient-store.js';
import { Worker, type WorkerOptions } from '#dist/bus/worker.js';
import {
  AnswerBuffers,
  answerByLibrary,
  converterOf,
  encodeFrame,
  loadLibrary,
  positionsOf,
  rulesOf,
  SubjectMap,
} from '../../support/engine/frames.js';

// The worker against an engine in memory: nothing is accepted before its answer is stored, tries are counted, what
// cannot be stored waits, what cannot be converted is a dead letter, and no more is held than was allowed.
const library = await loadLibrary();

describe('the worker', () => {
  type Verdict = 'accepted' | 'given back';

  /** Hands out the given messages; `decide` says what becomes of what is stored. */
  class MemoryEngine implements Engine {
    readonly stored = new Map<string, Outgoing>();
    readonly verdicts = new Map<string, Verdict>();
    /** In the order in which it happened: `store SUBJECT`, `accept ID`. */
    readonly events: string[] = [];
    #stop: (() => void) | undefined;

    constructor(
      readonly messages: readonly {
        id: string;
        subject?: string;
        bytes: Uint8Array;
        deliveries?: number;
        headers?: ReadonlyMap<string, string>;
      }[],
      readonly decide: (message: Outgoing) => Stored | StoreFault | Promise<Stored> = () => 'stored',
    ) {}

    async *receive(): AsyncGenerator<Received> {
      const stopped = new Promise<void>((resolve) => {
        this.#stop = resolve;
      });
      const own = new Map([['X-Own', 'kept']]);
      for (const { id, subject = 'in.a', bytes, deliveries = 1, headers = own } of this.messages) {
        yield {
          ...{
            id,
            subject,
            bytes,
            deliveries,
            headers,
            origin: `message ${id.slice(0, 9)}`,
          },
          accept: () => {
            this.events.push(`accept ${id}`);
            this.verdicts.set(id, 'accepted');
          },
          giveBack: () => this.verdicts.set(id, 'given back'),
          keep: () => {},
        };
      }
      await stopped;
    }

    stop(): void {
      this.#stop?.();
    }

    async store(message: Outgoing): Promise<Stored> {
      const decided = await this.decide(message);
      if (decided instanceof StoreFault) throw decided;
      this.events.push(`store ${message.subject}`);
      if (decided === 'stored')
        this.stored.set(message.subject, { ...message, bytes: message.bytes.slice() });
      return decided;
    }
  }

  const said: string[] = [];
  function workerOf(
    engine: Engine,
    options: Partial<WorkerOptions> = {},
    converter = converterOf(library),
  ): Worker {
    return new Worker(engine, converter, {
      ...{ maps: [new SubjectMap('in.>=out.>')], rules: rulesOf(), deadPrefix: 'dead', tries: 3 },
      ...{ maxHeldBytes: 1e6, keepEveryMs: 1000, say: (sentence: string) => said.push(sentence) },
      ...options,
    });
  }

  /** Runs a worker until every message has its verdict. */
  async function settled(worker: Worker, engine: MemoryEngine): Promise<void> {
    const running = worker.run();
    while (engine.verdicts.size < engine.messages.length) await sleep(5);
    worker.stop(0);
    await running;
  }

  const frameOf = (seed: number, count = 10): Uint8Array => encodeFrame(positionsOf(seed, count));

  test('each answer is stored under a subject of its own before its message is accepted', async () => {
    const engine = new MemoryEngine([1, 2, 3].map((i) => ({ id: `m${i}`, bytes: frameOf(i) })));
    const worker = workerOf(engine);
    await settled(worker, engine);
    for (const i of [1, 2, 3]) {
      const { bytes, headers, id } = engine.stored.get(`out.a.m${i}`)!;
      expect(Buffer.compare(bytes, answerByLibrary(library, positionsOf(i, 10)))).toBe(0);
      expect([id, headers.get('X-Own'), headers.get('Hexcodes-Format')]).toEqual([`m${i}`, 'kept', 'frames']);
      expect(engine.events.indexOf(`store out.a.m${i}`)).toBeLessThan(engine.events.indexOf(`accept m${i}`));
    }
    expect(worker.figures).toMatchObject({ messages: 3, points: 30, dead: 0, heldMessages: 0, heldBytes: 0 });
  });

  test('an answer that is stored already is accepted and counted', async () => {
    const engine = new MemoryEngine([{ id: 'm', bytes: frameOf(1), deliveries: 2 }], () => 'already');
    const worker = workerOf(engine);
    await settled(worker, engine);
    expect(engine.verdicts.get('m')).toBe('accepted');
    expect(worker.figures).toMatchObject({ messages: 1, already: 1, redelivered: 1 });
  });

  test('what a full or absent stream does not take is tried again, and not accepted before', async () => {
    let tries = 0;
    const engine = new MemoryEngine([{ id: 'm', bytes: frameOf(1) }], () =>
      ++tries < 3 ? new StoreFault(tries === 1 ? 'full' : 'away', `fault ${tries}`) : 'stored',
    );
    const worker = workerOf(engine);
    await settled(worker, engine);
    expect(engine.events).toEqual(['store out.a.m', 'accept m']);
    expect(worker.figures).toMatchObject({ messages: 1 });
    expect(worker.storeFaults).toBe(2);
    expect(said).toEqual(expect.arrayContaining(['fault 1', 'fault 2']));
  });

  test('a message that cannot be converted becomes a dead letter after a number of tries, with the reason', async () => {
    const engine = new MemoryEngine([{ id: 'm', bytes: new Uint8Array([1, 2]) }]);
    let tries = 0;
    const converter = converterOf(library);
    const { convert } = converter;
    converter.convert = (...args) => {
      tries++;
      return convert.apply(converter, args);
    };
    const worker = workerOf(engine, { tries: 4 }, converter);
    await settled(worker, engine);
    expect(tries).toBe(4);
    const letter = engine.stored.get('dead.in.a.m')!;
    expect([...letter.bytes]).toEqual([1, 2]);
    expect(Object.fromEntries(letter.headers)).toEqual({
      'X-Own': 'kept',
      'Hexcodes-Reason': 'a frame has a header of 16 bytes, and the message has 2',
      'Hexcodes-Subject': 'in.a',
      'Hexcodes-Place': 'message m',
    });
    expect(engine.verdicts.get('m')).toBe('accepted');
    expect(worker.figures).toMatchObject({ messages: 0, dead: 1 });
  });

  test('a try that fails once is not a dead letter', async () => {
    const engine = new MemoryEngine([{ id: 'm', bytes: frameOf(1) }]);
    const converter = converterOf(library);
    const { convert } = converter;
    let tries = 0;
    converter.convert = async (...args) => {
      if (++tries === 1) throw new Error('a thread died');
      return convert.apply(converter, args);
    };
    await settled(workerOf(engine, {}, converter), engine);
    expect([...engine.stored.keys()]).toEqual(['out.a.m']);
  });

  test('an answer that is too large is a dead letter, and one that is too large even for that names its place', async () => {
    const large = frameOf(1, 1000);
    const engine = new MemoryEngine(
      [
        { id: 'm', bytes: large },
        { id: 'n', bytes: frameOf(2) },
      ],
      ({ bytes }) =>
        bytes.length > 10_000 ? new StoreFault('too-large', 'the answer is too large') : 'stored',
    );
    await settled(workerOf(engine), engine);
    const letter = engine.stored.get('dead.in.a.m')!;
    expect(letter.bytes).toHaveLength(0);
    expect(letter.headers.get('Hexcodes-Reason')).toBe(
      'the answer is too large; its bytes are in message m, as they are too many for a dead letter',
    );
    expect(engine.stored.has('out.a.n')).toBe(true);
  });

  test('headers or an id that are too large for a dead letter stay behind', async () => {
    const sizeOf = ({ bytes, headers, id }: Outgoing): number =>
      [...headers].reduce((sum, [name, text]) => sum + name.length + text.length, bytes.length + id.length);
    const large = 'x'.repeat(20_000);
    const engine = new MemoryEngine(
      [
        { id: 'm', bytes: frameOf(1), headers: new Map([['X-Own', large]]) },
        { id: large, bytes: frameOf(2) },
      ],
      (message) =>
        sizeOf(message) > 10_000 ? new StoreFault('too-large', 'the answer is too large') : 'stored',
    );
    const worker = workerOf(engine);
    await settled(worker, engine);
    expect([...engine.verdicts.values(), worker.figures.dead]).toEqual(['accepted', 'accepted', 2]);
    const letters = [...engine.stored.values()];
    expect(letters.map(({ id, isBare }) => [id, isBare])).toEqual([
      ['m', true],
      [expect.stringMatching(/^~[0-9a-f]{64}$/), true],
    ]);
    for (const { headers } of letters)
      expect([headers.has('X-Own'), headers.get('Hexcodes-Subject')]).toEqual([false, 'in.a']);
  });

  test('a message under no map is a dead letter', async () => {
    const engine = new MemoryEngine([{ id: 'm', subject: 'other', bytes: frameOf(1) }]);
    await settled(workerOf(engine), engine);
    expect(engine.stored.get('dead.other.m')?.headers.get('Hexcodes-Reason')).toBe(
      'no map says where answers to other go',
    );
  });

  test('no more bytes are held than allowed, but for one message', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const messages = Array.from({ length: 10 }, (_, i) => ({ id: `m${i}`, bytes: frameOf(i, 100) }));
    const engine = new MemoryEngine(messages, () => gate.then(() => 'stored' as const));
    const oneBytes = messages[0]!.bytes.length;
    const worker = workerOf(engine, { maxHeldBytes: 3.5 * oneBytes });
    const running = settled(worker, engine);
    await sleep(50);
    expect(worker.figures.heldMessages).toBeGreaterThan(0);
    expect(worker.figures.heldMessages).toBeLessThanOrEqual(3);
    release();
    await running;
    expect(engine.stored.size).toBe(10);
  });

  test('a stop gives unstored points back', async () => {
    const engine = new MemoryEngine([{ id: 'm', bytes: frameOf(1) }], () => new StoreFault('away', 'away'));
    const worker = workerOf(engine);
    const running = worker.run();
    while (worker.storeFaults === 0) await sleep(5);
    worker.stop(0);
    await running;
    expect(engine.verdicts.get('m')).toBe('given back');
  });

  test('memory of an answer is used again once the answer is stored, and not where it was given up', async () => {
    const converter = converterOf(library);
    const { convert } = converter;
    const released: string[] = [];
    const ids = ['stored', 'already', 'full'];
    let at = 0;
    converter.convert = async (...args) => {
      const id = ids[at++]!;
      return { ...(await convert.apply(converter, args)), release: () => released.push(id) };
    };
    const engine = new MemoryEngine(
      ids.map((id, i) => ({ id, bytes: frameOf(i) })),
      ({ subject }) =>
        subject === 'out.a.full'
          ? new StoreFault('full', 'full')
          : subject === 'out.a.already'
            ? 'already'
            : 'stored',
    );
    const worker = workerOf(engine, {}, converter);
    const running = worker.run();
    while (worker.figures.messages < 2 || worker.storeFaults === 0) await sleep(5);
    worker.stop(0);
    await running;
    expect(engine.verdicts.get('full')).toBe('given back');
    expect(released.toSorted()).toEqual(['already', 'stored']);
  });

  test('points without a code are counted, of answers by this worker and by others', async () => {
    const outside = encodeFrame(Float64Array.of(21.0288, 105.8525, 1, 1, 2, 2));
    const engine = new MemoryEngine(
      [
        { id: '1', bytes: outside },
        { id: '2', bytes: outside },
      ],
      ({ id }) => (id === '2' ? 'already' : 'stored'),
    );
    const worker = workerOf(engine);
    const run = worker.run();
    await expect.poll(() => engine.verdicts.size).toBe(2);
    worker.stop(0);
    await run;
    expect(worker.figures).toMatchObject({ messages: 2, points: 6, failedPoints: 4, already: 1 });
  });

  test('what makes storing throw, and damaged headers, are dead letters', async () => {
    const engine = new MemoryEngine([{ id: 'odd', bytes: encodeFrame(positionsOf(1, 1)) }], (message) => {
      if (message.subject === 'out.a.odd') throw new TypeError('x'.repeat(600));
      return 'stored';
    });
    const worker = workerOf(engine);
    const run = worker.run();
    await expect.poll(() => engine.verdicts.size).toBe(1);
    worker.stop(0);
    await run;
    expect([engine.verdicts.get('odd'), worker.figures.dead]).toEqual(['accepted', 1]);
    const letter = engine.stored.get('dead.in.a.odd');
    expect(letter?.headers.get('Hexcodes-Reason')).toBe('x'.repeat(500));
    expect(letter?.headers.has('X-Own')).toBe(false);
  });

  test('subjects that are too long to be published', async () => {
    const long = `in.${'x'.repeat(3600)}`;
    const engine = new MemoryEngine([{ id: 'a', subject: long, bytes: encodeFrame(positionsOf(1, 1)) }]);
    const worker = workerOf(engine);
    const run = worker.run();
    await expect.poll(() => engine.verdicts.size).toBe(1);
    worker.stop(0);
    await run;
    const [subject, letter] = [...engine.stored][0]!;
    expect(subject).toMatch(/^dead\.~[0-9a-f]{64}$/);
    expect(letter.headers.get('Hexcodes-Subject')).toBe(long);
    expect(letter.headers.get('Hexcodes-Reason')).toMatch(
      /subject of its answer would have 3606 bytes, and may have 3500/,
    );
  });

  test('a message is taken when it fits beside those that are held', async () => {
    let most = 0;
    const bytes = encodeFrame(positionsOf(1, 30));
    const messages = ['1', '2', '3', '4'].map((id) => ({ id, bytes }));
    const engine = new MemoryEngine(messages, async () => {
      most = Math.max(most, worker.figures.heldMessages);
      await sleep(10);
      return 'stored' as const;
    });
    // Two would be a little more than may be held.
    const worker = workerOf(engine, { maxHeldBytes: 2 * bytes.length - 1 });
    const run = worker.run();
    await expect.poll(() => engine.verdicts.size).toBe(4);
    worker.stop(0);
    await run;
    expect(most).toBe(1);
  });

  test('an answer that may or may not be stored gives its message back at once', async () => {
    const engine = new MemoryEngine([{ id: 'm', bytes: frameOf(1) }], () => 'lost');
    const worker = workerOf(engine);
    await settled(worker, engine);
    expect(engine.verdicts.get('m')).toBe('given back');
    expect(worker.figures).toMatchObject({ messages: 0, points: 0 });
  });
});

// Storing is tried again while the bus is away, at longer and longer intervals, and not where it can never succeed.
describe('stores that fail for a while', () => {
  const message = { subject: 's', id: 'i', bytes: new Uint8Array(1), headers: new Map<string, string>() };

  test('the pauses between two tries grow, up to some seconds, and differ from worker to worker', async () => {
    const pauses: number[] = [];
    const store = new PatientStore({
      store: async () => {
        if (pauses.length < 12) throw new StoreFault('away', 'away');
        return 'stored';
      },
      ...{ deadPrefix: 'dead', say: () => undefined, signal: new AbortController().signal },
      pause: async (delayMs) => void pauses.push(delayMs),
    });
    expect([await store.store(message), store.faults]).toEqual(['stored', 12]);
    // Half as much again or half as much less.
    for (const [i, delayMs] of pauses.entries()) {
      const meanMs = Math.min(5000, 100 * 2 ** i);
      expect([i, delayMs >= meanMs / 2 && delayMs < meanMs * 1.5]).toEqual([i, true]);
    }
    expect(new Set(pauses.slice(6).map(Math.round)).size).toBeGreaterThan(1);
  });
});

// Memory and marks of workers of a bus: answers that are kept, messages of a turn, and rates of what was reached.

// Memory of answers is used again, and never while somebody may still read it.
describe('memory of answers', () => {
  test('a buffer that was given back is taken again, by answers of its size', () => {
    const buffers = new AnswerBuffers();
    const first = buffers.take(5000);
    expect(first.length).toBe(8192);
    expect(buffers.take(5000).buffer).not.toBe(first.buffer);
    buffers.giveBack(first.subarray(0, 5000));
    expect(buffers.take(8193).buffer).not.toBe(first.buffer);
    expect(buffers.take(4097).buffer).toBe(first.buffer);
    expect(buffers.take(4097).buffer).not.toBe(first.buffer);
  });

  test('no more than 16 MiB wait to be used again, and none that are very large', () => {
    const buffers = new AnswerBuffers();
    const taken = Array.from({ length: 20 }, () => buffers.take(1024 * 1024));
    for (const each of taken) buffers.giveBack(each);
    const again = Array.from({ length: 20 }, () => buffers.take(1024 * 1024).buffer);
    expect(again.filter((buffer) => taken.some((each) => each.buffer === buffer))).toHaveLength(16);
    const large = buffers.take(3 * 1024 * 1024);
    buffers.giveBack(large);
    expect(buffers.take(3 * 1024 * 1024).buffer).not.toBe(large.buffer);
  });

  test('an answer stays as it is until it is released, and a later one in its memory is right', async () => {
    const library = await loadLibrary();
    const converter = converterOf(library);
    const shape = { format: 'frames', operation: 'encode', resolution: 12 } as const;
    const positions = [300, 10, 299].map((points, i) => positionsOf(i, points));
    const rightOf = (i: number): Buffer => Buffer.from(answerByLibrary(library, positions[i]!));
    const answers = [];
    for (const each of positions) answers.push(await converter.convert(encodeFrame(each), shape));
    for (const [i, { bytes }] of answers.entries()) expect(Buffer.from(bytes)).toEqual(rightOf(i));
    const { buffer } = answers[0]!.bytes;
    answers[0]!.release!();
    const later = await converter.convert(encodeFrame(positions[2]!), shape);
    expect(later.bytes.buffer).toBe(buffer);
    expect(Buffer.from(later.bytes)).toEqual(rightOf(2));
    expect(Buffer.from(answers[2]!.bytes)).toEqual(rightOf(2));
  });
});

// The outbox sends all of one turn of the event loop together, in order, and nothing twice.
describe('the outbox', () => {
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test('all of a turn is sent at its end, in order and without a promise between', async () => {
    const outbox = new Outbox();
    const sent: string[] = [];
    const send = (name: string): void =>
      outbox.add(() => {
        sent.push(name);
        queueMicrotask(() => sent.push(`the client writes after ${name}`));
      });
    send('a');
    await Promise.resolve();
    send('b');
    expect(sent).toEqual([]);
    await turn();
    expect(sent.slice(0, 2)).toEqual(['a', 'b']);
    expect(sent).toHaveLength(4);
  });

  test('rows added during a send go with the next one, and none twice', async () => {
    const outbox = new Outbox();
    const sent: string[] = [];
    outbox.add(() => {
      sent.push('a');
      outbox.add(() => sent.push('b'));
    });
    await turn();
    expect(sent).toEqual(['a']);
    await turn();
    await turn();
    expect(sent).toEqual(['a', 'b']);
  });
});

// Marks say how far a sequence had come a given time ago; a server that has lost messages makes them void.
describe('marks', () => {
  test('the value reached by a given time ago, undefined where no mark is old enough', () => {
    const marks = new Marks();
    expect(marks.before(0, 0)).toBeUndefined();
    for (const [value, atMs] of [
      [5, 0],
      [9, 1000],
      [9, 2000],
      [12, 3000],
    ] as const)
      marks.add(value, atMs);
    expect(marks.before(4000, 3500)).toBeUndefined();
    expect(marks.before(3500, 3500)).toBe(5);
    expect(marks.before(2000, 3500)).toBe(9);
    expect(marks.before(500, 3500)).toBe(12);
    expect(marks.before(2000, 3500)).toBeUndefined();
  });

  test('a value that falls, and a time without marks, make what was before void', () => {
    const fallen = new Marks();
    fallen.add(9, 0);
    fallen.add(7, 1000);
    expect(fallen.before(2000, 2000)).toBeUndefined();
    expect(fallen.before(1000, 2000)).toBe(7);
    const away = new Marks();
    away.add(9, 0);
    away.add(9, 20_000);
    expect(away.before(10_000, 25_000)).toBeUndefined();
    expect(away.before(5000, 25_000)).toBe(9);
  });
});
