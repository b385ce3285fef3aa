// The share of one key in what all keys share: disk of answers, disk of positions, memory, files.

/**
 * Whether a key may take more. A key alone holds three quarters at most: the last quarter is only for keys that hold
 * less than a quarter, so no key keeps the others out.
 * @param held what the key holds
 * @param total what all keys hold
 * @param more what it asks for
 * @param most what all may hold
 */
export function mayTake(held: number, total: number, more: number, most: number): boolean {
  if (total + more > most) return false;
  return held + more <= most / 4 || total + more <= 0.75 * most;
}
