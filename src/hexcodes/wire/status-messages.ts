// The sentences that go with a status, equal in HTTP bodies, rows and frames.

export const OUTSIDE_MESSAGE = 'the position lies in no province of Viet Nam nor in its coastal sea';
export const OVER_QUOTA_MESSAGE = 'the quota of the key is used up';
export const OVER_LIMIT_MESSAGE = 'the key has reached its limit of points a second';
export const OVERLOADED_MESSAGE = 'the service is overloaded';
