// GET /v1/usage: what the calling key has used today and this month, and what it may.
import { JSON_TYPE } from '../answers.js';
import type { KeyMeter } from '../limits/key-meter.js';
import type { Metering } from '../limits/metering.js';
import type { Meters } from '../limits/meters.js';
import { requireJson } from '../media-types.js';
import type { Router } from '../router.js';

/** The store is asked, and away after less. */
const REFRESH_DEADLINE_MS = 5000;

export function addUsage(router: Router, metering: Metering): void {
  const { meters } = metering;
  router.add({
    path: '/v1/usage',
    methods: ['GET'],
    access: 'key',
    handle: (x, key) => {
      if (!requireJson(x)) return;
      const meter = meters.of(key);
      const answer = (): void => x.send(200, JSON_TYPE, JSON.stringify(usageOf(meters, meter)));
      const refreshed = metering.refresh(meter);
      if (refreshed === undefined) answer();
      else {
        x.deadline(REFRESH_DEADLINE_MS);
        void refreshed.then(answer, (error: unknown) => x.reject(error));
      }
    },
  });
}

function usageOf({ calendar }: Meters, meter: KeyMeter): object {
  const { day, month } = calendar.follow(Date.now());
  const { dayRequests, dayPoints, monthRequests, monthPoints } = meter.used();
  const rates = Object.fromEntries(meter.rates().map(({ name, bucket }) => [name, bucket]));
  const quotas = Object.fromEntries(meter.quotas().map(({ name, quota }) => [name, quota]));
  return {
    status: 'OK',
    key: { id: meter.key.id, name: meter.key.name },
    day: { date: day.name, requests: dayRequests, points: dayPoints },
    month: { month: month.name, requests: monthRequests, points: monthPoints },
    time_zone: calendar.zone,
    limits: {
      points_per_second: rates.points?.perSecond ?? null,
      points_burst: rates.points?.capacity ?? null,
      requests_per_second: rates.requests?.perSecond ?? null,
      requests_burst: rates.requests?.capacity ?? null,
      points_per_day: quotas['points-day'] ?? null,
      points_per_month: quotas['points-month'] ?? null,
    },
  };
}
