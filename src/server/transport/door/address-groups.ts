// Connections by the network they come from: an IPv4 address, or the /64 of an IPv6 one, which one peer has to itself.
// Knows which network has the most at any time, without looking through them.

/** The network of a peer: a text that is the same for all its addresses. */
export function networkOf(address: Uint8Array): string {
  if (address.length !== 16) return address.join('.');
  const isMapped =
    address.subarray(0, 10).every((byte) => byte === 0) && address[10] === 255 && address[11] === 255;
  return isMapped ? address.subarray(12).join('.') : `${address.subarray(0, 8).join('.')}/64`;
}

/** The connections of one network; in each set the one that has been idle longest first. */
export class AddressGroup<C> {
  /** Those that have asked for nothing yet. */
  readonly silent = new Set<C>();
  /** Those that have had an answer, or wait for one. */
  readonly asked = new Set<C>();

  constructor(readonly network: string) {}

  get size(): number {
    return this.silent.size + this.asked.size;
  }

  get members(): C[] {
    return [...this.silent, ...this.asked];
  }
}

export class AddressGroups<C> {
  readonly #groups = new Map<string, AddressGroup<C>>();
  /** At index n those with n members. */
  readonly #bySize: Set<AddressGroup<C>>[] = [];
  #largest = 0;
  #members = 0;

  /** Members of all groups. */
  get size(): number {
    return this.#members;
  }

  get all(): AddressGroup<C>[] {
    return [...this.#groups.values()];
  }

  of(network: string): AddressGroup<C> | undefined {
    return this.#groups.get(network);
  }

  /** Adds a member at the end, or moves it there. */
  add(network: string, member: C, hasAsked: boolean): void {
    let group = this.#groups.get(network);
    if (group === undefined) {
      group = new AddressGroup(network);
      this.#groups.set(network, group);
    }
    const before = group.size;
    group.silent.delete(member);
    group.asked.delete(member);
    (hasAsked ? group.asked : group.silent).add(member);
    this.#resized(group, before);
  }

  delete(network: string, member: C): void {
    const group = this.#groups.get(network);
    if (group === undefined) return;
    const before = group.size;
    group.silent.delete(member);
    group.asked.delete(member);
    this.#resized(group, before);
  }

  /** One of the groups with the most members; undefined if there are none. */
  get largest(): AddressGroup<C> | undefined {
    return this.#bySize[this.#largest]?.values().next().value;
  }

  #resized(group: AddressGroup<C>, before: number): void {
    const { size } = group;
    if (size === before) return;
    this.#members += size - before;
    this.#bySize[before]?.delete(group);
    if (size === 0) this.#groups.delete(group.network);
    else {
      this.#bySize[size] ??= new Set();
      this.#bySize[size].add(group);
      this.#largest = Math.max(this.#largest, size);
    }
    while (this.#largest > 0 && (this.#bySize[this.#largest]?.size ?? 0) === 0) this.#largest--;
  }
}
