// Queues of which the mean waiting time is known, to hold the simulation against.

/** Erlang's C: the probability of waiting in M/M/c. @param load λ ÷ μ */
function erlangC(servers: number, load: number): number {
  let blocked = 1;
  for (let n = 1; n <= servers; n++) blocked = (load * blocked) / (n + load * blocked);
  const busy = load / servers;
  return blocked / (1 - busy + busy * blocked);
}

/** Mean waiting time in M/M/c, in units of the mean service time. @param busy λ ÷ cμ */
export function waitMMc(servers: number, busy: number): number {
  return erlangC(servers, servers * busy) / (servers * (1 - busy));
}

/**
 * Mean waiting time in M/D/c, in units of the service time: the number of requests in the system, looked at every
 * service time, is a Markov chain (Crommelin 1932), iterated here until it does not change.
 */
export function waitMDc(servers: number, busy: number): number {
  const load = servers * busy;
  const states = 60 * servers + Math.ceil(40 / (1 - busy));
  const arrivals = new Float64Array(states);
  arrivals[0] = Math.exp(-load);
  for (let n = 1; n < states; n++) arrivals[n] = (arrivals[n - 1]! * load) / n;
  let chances = new Float64Array(states);
  chances[0] = 1;
  for (let change = 1; change > 1e-11; ) {
    const next = new Float64Array(states);
    for (let from = 0; from < states; from++) {
      const left = Math.max(0, from - servers);
      if (chances[from]! < 1e-16) continue;
      for (let came = 0; left + came < states && arrivals[came]! > 1e-18; came++)
        next[left + came]! += chances[from]! * arrivals[came]!;
    }
    change = next.reduce((most, value, at) => Math.max(most, Math.abs(value - chances[at]!)), 0);
    chances = next;
  }
  let waiting = 0;
  for (let n = servers + 1; n < states; n++) waiting += (n - servers) * chances[n]!;
  return waiting / load;
}

/** Mean waiting time in M[x]/D/1, batches of a fixed size, in units of the service time. */
export function waitBatchesMD1(batch: number, busy: number): number {
  return (busy * batch) / (2 * (1 - busy)) + (batch - 1) / 2;
}
