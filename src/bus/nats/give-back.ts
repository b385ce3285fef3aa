// Gives room back in a stream that is nearly full: its oldest messages are removed, as far as they are done with. At
// least half of them stay, so that a stream never ends empty: a server that is killed then knows the last number, and
// answers of messages without an id are found by it.
import { AckPolicy, type ConsumerInfo, type JetStreamManager } from '@nats-io/jetstream';
import type { StreamFill } from '../bus.js';
import { NEARLY_FULL } from '../sizing.js';

/**
 * Removals of single messages that are under way at once. A purge by number would be one call, but a server 2.9 that is
 * killed after it has lost messages that it had acknowledged since: 1 to 5 of 960 in most runs of
 * test/support/engine/kill-run.ts, and none with single removals.
 */
const AT_ONCE = 64;
/** Marks that are further apart say nothing about the time between them: the servers were away. */
const MAX_GAP_MS = 15_000;

/**
 * How far something had come at some moments, so that it can be asked how far it had come a time ago. A server that
 * dies forgets answers which it has acknowledged and not yet written, and hands out their messages again, so a message
 * stays for a time after its answer is stored.
 */
export class Marks {
  #marks: { readonly value: number; readonly atMs: number }[] = [];

  /** @param value falls where a server has forgotten something: what was before does not count then */
  add(value: number, atMs = performance.now()): void {
    const last = this.#marks.at(-1);
    if (last !== undefined && (value < last.value || atMs - last.atMs > MAX_GAP_MS)) this.#marks = [];
    this.#marks.push({ value, atMs });
  }

  /** undefined where that is not known. Earlier marks are forgotten. */
  before(ageMs: number, nowMs = performance.now()): number | undefined {
    const at = this.#marks.findLastIndex(({ atMs }) => nowMs - atMs >= ageMs);
    if (at < 0) return undefined;
    this.#marks.splice(0, at);
    return this.#marks[0]!.value;
  }
}

/** The last message that a consumer is done with. */
const readUpTo = ({ config, ack_floor, delivered }: ConsumerInfo): number =>
  config.ack_policy === AckPolicy.None ? delivered.stream_seq : ack_floor.stream_seq;

/**
 * @param keptFrom the first message that must stay, whatever its consumers have read
 * @returns how many messages were removed
 */
export async function giveBack(
  jsm: JetStreamManager,
  { name, bytes, maxBytes }: StreamFill,
  keptFrom: number,
): Promise<number> {
  if (maxBytes === 0 || bytes < NEARLY_FULL * maxBytes) return 0;
  const { state } = await jsm.streams.info(name);
  let end = Math.min(keptFrom, state.first_seq + Math.floor(state.messages / 2));
  // Others may read the same stream.
  for await (const consumer of jsm.consumers.list(name)) end = Math.min(end, readUpTo(consumer) + 1);
  if (end <= state.first_seq) return 0;
  for (let at = state.first_seq; at < end; at += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, end - at) }, (_, i) => remove(jsm, name, at + i)),
    );
  return end - state.first_seq;
}

async function remove(jsm: JetStreamManager, stream: string, number: number): Promise<void> {
  try {
    await jsm.streams.deleteMessage(stream, number, false);
  } catch (error) {
    // Another worker was first, or its age.
    if (!/no message found/i.test((error as Error).message)) throw error;
  }
}

/** Number of the first message from `from` on whose subject is one of these; infinite where there is none. */
export async function firstOf(
  jsm: JetStreamManager,
  stream: string,
  from: number,
  subjects: string,
): Promise<number> {
  // Servers since 2.9 take both together; the client's type has them one by one.
  const query = { seq: from, next_by_subj: subjects } as { seq: number };
  const found = await jsm.streams.getMessage(stream, query);
  return found?.seq ?? Number.POSITIVE_INFINITY;
}
