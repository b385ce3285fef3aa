// Items that wait, by key. The keys take turns, however many items each of them has.

export class KeyTurns<T> {
  /** In the order of their turns; no key is here without an item. */
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

  /** Takes the oldest item of the key whose turn it is; undefined where there is none. */
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

  /** Takes the newest item of a key that `isWanted`; undefined where there is none. */
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
