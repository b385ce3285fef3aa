// GET /v1/usage: what the calling key has used today and this month, and what it may.
import { JSON_TYPE } from '../http/answers.js';
import { requireJson } from '../http/negotiation.js';
import type { Route } from '../http/router.js';
import type { KeyLedger } from '../ledger/key-ledger.js';
import type { Ledger } from '../ledger/ledger.js';
import type { OpenLedger } from '../ledger/open-ledger.js';

/** The store is asked, and away after less. */
const REFRESH_DEADLINE_MS = 5000;

/** @param metering undefined: nothing is counted, and there is nothing to say */
export function usageRoutes({ metering }: { readonly metering: OpenLedger | undefined }): Route[] {
  if (metering === undefined) return [];
  const { ledger } = metering;
  const handle: Route['handle'] = (x, key) => {
    if (!requireJson(x)) return;
    const account = ledger.of(key);
    const answer = (): void => x.send(200, JSON_TYPE, JSON.stringify(usageOf(ledger, account)), x.notes.hint);
    const refreshed = metering.refresh(account);
    if (refreshed === undefined) answer();
    else {
      x.deadline(REFRESH_DEADLINE_MS);
      void refreshed.then(answer, (error: unknown) => x.reject(error));
    }
  };
  return [{ path: '/v1/usage', methods: ['GET'], access: 'key', parameters: [], handle }];
}

function usageOf({ calendar }: Ledger, account: KeyLedger): object {
  const { day, month } = calendar.follow(Date.now());
  const { dayRequests, dayPoints, monthRequests, monthPoints } = account.used();
  const rates = Object.fromEntries(account.rates.states().map(({ name, bucket }) => [name, bucket]));
  const quotas = Object.fromEntries(account.quotas().map(({ name, quota }) => [name, quota]));
  return {
    status: 'OK',
    key: { id: account.key.id, name: account.key.name },
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
