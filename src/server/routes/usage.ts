// GET /v1/usage: what the calling key has used today and this month, and what it may.
import { JSON_TYPE } from '../answers.js';
import type { KeyMeter } from '../limits/key-meter.js';
import type { Meters } from '../limits/meters.js';
import { requireJson } from '../media-types.js';
import type { Router } from '../router.js';

export function addUsage(router: Router, meters: Meters): void {
  router.add({
    path: '/v1/usage',
    methods: ['GET'],
    access: 'key',
    handle: (x, key) => {
      if (!requireJson(x)) return;
      x.send(200, JSON_TYPE, JSON.stringify(usageOf(meters, meters.of(key))));
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
