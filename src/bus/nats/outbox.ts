// Sends all of one turn of the event loop together, so that the client makes one write of it: it writes as soon as the
// code that sends has returned, and a write for each small answer and acknowledgement costs more than the rest.

export class Outbox {
  #sends: (() => void)[] = [];

  /** @param send is called at the end of this turn of the event loop; it must not throw */
  add(send: () => void): void {
    if (this.#sends.length === 0) setImmediate(() => this.#run());
    this.#sends.push(send);
  }

  #run(): void {
    const sends = this.#sends;
    this.#sends = [];
    for (const send of sends) send();
  }
}
