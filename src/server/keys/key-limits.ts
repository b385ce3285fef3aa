// The limits of a key: what it may do in a second, a day and a month. A point is one converted item, whatever its
// status; a request is one HTTP request, the handshake of a stream included.

/**
 * Bursts and quotas are integers. Absent: the default of the settings holds.
 * 0: there is no such limit, whatever the default.
 */
export interface KeyLimits {
  /** Points of a second, in the long run. */
  readonly pointsPerSecond?: number | undefined;
  /** Points at once after a rest; by default those of one second, and at least one. */
  readonly pointsBurst?: number | undefined;
  readonly requestsPerSecond?: number | undefined;
  /** Requests at once after a rest; by default those of one second, and at least one. */
  readonly requestsBurst?: number | undefined;
  /** Quotas of the calendar, in the time zone of the settings. */
  readonly pointsPerDay?: number | undefined;
  readonly pointsPerMonth?: number | undefined;
}
