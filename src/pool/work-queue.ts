// The blocks in the pool, with a worker or queued, and the bodies that wait to submit blocks. The keys of callers
// take turns in both, and if the pool is full, a key that has more in it than another gives up queued work: a caller
// that floods the pool delays and rejects only itself.

/** Items that wait, by key. The keys take turns, however many items each of them has. */
class KeyTurns<T> {
  /** In the order of their turns; every key here has an item. */
  readonly #items = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(key: string, item: T): void {
    const items = this.#items.get(key);
    if (items === undefined) this.#items.set(key, [item]);
    else items.push(item);
    this.#size++;
  }

  /** Removes the oldest item of the key whose turn it is; undefined if there is none. */
  next(): T | undefined {
    const [first] = this.#items;
    if (first === undefined) return undefined;
    const [key, items] = first;
    const item = items.shift();
    this.#items.delete(key);
    if (items.length > 0) this.#items.set(key, items);
    this.#size--;
    return item;
  }

  /** Removes the newest item of a key that `isWanted`; undefined if there is none. */
  takeNewest(key: string, isWanted: (item: T) => boolean): T | undefined {
    const items = this.#items.get(key) ?? [];
    const at = items.findLastIndex(isWanted);
    if (at < 0) return undefined;
    const [item] = items.splice(at, 1);
    if (items.length === 0) this.#items.delete(key);
    this.#size--;
    return item;
  }

  has(key: string, isWanted: (item: T) => boolean): boolean {
    return this.#items.get(key)?.some(isWanted) ?? false;
  }
}

/** The queue is full. No work was begun. */
export class PoolFullError extends Error {
  override readonly name = 'PoolFullError';
}

export interface QueueLimits {
  readonly running: number;
  /** Blocks with a worker or waiting, and their bytes. */
  readonly blocks: number;
  readonly bytes: number;
  /**
   * Blocks of bodies, as many as keep the workers busy: the other space is for batches and frames, which cannot wait
   * outside.
   */
  readonly bodyBlocks: number;
}

export class QueuedBlock {
  /** Resolves when a worker is free for the block; rejects with PoolFullError if it is dropped. */
  readonly turn: Promise<void>;
  start!: () => void;
  giveUp!: (reason: Error) => void;
  isGivenUp = false;

  /** @param isOfBody a body would be incomplete without its answer: the block is never dropped */
  constructor(
    readonly key: string,
    readonly sizeBytes: number,
    readonly isOfBody: boolean,
  ) {
    this.turn = new Promise((resolve, reject) => {
      this.start = resolve;
      this.giveUp = reject;
    });
  }
}

interface Use {
  blocks: number;
  bytes: number;
}

const NO_USE: Readonly<Use> = { blocks: 0, bytes: 0 };

export class WorkQueue {
  readonly #waiting = new KeyTurns<QueuedBlock>();
  readonly #bodies = new KeyTurns<() => void>();
  readonly #uses = new Map<string, Use>();
  #running = 0;
  #blocks = 0;
  #bytes = 0;
  #bodyBlocks = 0;

  constructor(private readonly limits: QueueLimits) {}

  get blocks(): number {
    return this.#blocks;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get waitingBlocks(): number {
    return this.#waiting.size;
  }

  get waitingBodies(): number {
    return this.#bodies.size;
  }

  /** Whether there is space for a block of the key, or another key has one to drop. */
  mayEnter(key: string): boolean {
    return this.#hasSpace || this.#giverFor(key) !== undefined;
  }

  mayEnterOfBody(key: string): boolean {
    return this.#bodyBlocks < this.limits.bodyBlocks && this.mayEnter(key);
  }

  /** Whether a body that is called may hand in a block, whichever key it has. */
  get hasSpaceForBody(): boolean {
    return this.#bodyBlocks < this.limits.bodyBlocks && this.#hasSpace;
  }

  /** @throws PoolFullError */
  enter(key: string, sizeBytes: number, isOfBody: boolean): QueuedBlock {
    while (!this.#hasSpace) {
      const giver = this.#giverFor(key);
      if (giver === undefined) throw new PoolFullError('the pool is full');
      const given = this.#waiting.takeNewest(giver, isGivable)!;
      given.isGivenUp = true;
      this.#count(given, -1);
      given.giveUp(new PoolFullError('the pool is full, and this key has more in it than others'));
    }
    const block = new QueuedBlock(key, sizeBytes, isOfBody);
    this.#count(block, 1);
    this.#waiting.add(key, block);
    this.#start();
    return block;
  }

  /** To be called once for each block, whatever became of its turn. */
  leave(block: QueuedBlock): void {
    if (block.isGivenUp) return;
    this.#running--;
    this.#count(block, -1);
    this.#start();
  }

  /** Resolves when it is the body's turn: one body for each finished block, or all if no block is left. */
  waitForBody(key: string): Promise<void> {
    return new Promise((resolve) => this.#bodies.add(key, resolve));
  }

  callBodies(isAll: boolean): void {
    for (let called = isAll ? this.#bodies.size : 1; called > 0; called--) this.#bodies.next()?.();
  }

  get #hasSpace(): boolean {
    return this.#blocks < this.limits.blocks && this.#bytes < this.limits.bytes;
  }

  /** The key that uses most of the pool, more than this one will, and has a block to drop. */
  #giverFor(key: string): string | undefined {
    const kind = this.#blocks < this.limits.blocks ? 'bytes' : 'blocks';
    const own = this.#uses.get(key) ?? NO_USE;
    let most = own[kind] + (kind === 'blocks' ? 1 : 0);
    let giver: string | undefined;
    for (const [other, use] of this.#uses) {
      if (other === key || use[kind] <= most || !this.#waiting.has(other, isGivable)) continue;
      most = use[kind];
      giver = other;
    }
    return giver;
  }

  #start(): void {
    while (this.#running < this.limits.running) {
      const block = this.#waiting.next();
      if (block === undefined) return;
      this.#running++;
      block.start();
    }
  }

  #count({ key, sizeBytes, isOfBody }: QueuedBlock, sign: 1 | -1): void {
    const use = this.#uses.get(key) ?? { ...NO_USE };
    use.blocks += sign;
    use.bytes += sign * sizeBytes;
    if (use.blocks === 0) this.#uses.delete(key);
    else this.#uses.set(key, use);
    this.#blocks += sign;
    this.#bytes += sign * sizeBytes;
    if (isOfBody) this.#bodyBlocks += sign;
  }
}

function isGivable({ isOfBody }: QueuedBlock): boolean {
  return !isOfBody;
}
