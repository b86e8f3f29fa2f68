/** Overview: what was decided about a tenant's requests and sign-ins, and why. */
import { html } from 'hono/html'
import { LIMITS } from '../../../shared/limits.ts'
import type { LatestRefusal } from '../../monitoring/refusals.ts'
import { personLink } from '../blocks/person.ts'
import { emptyState, table } from '../blocks/table.ts'
import { card, logMoment } from '../blocks/text.ts'
import { areRequestsCounted, totals } from '../figures/chart-lines.ts'
import { reasonsCard, seriesCharts, STEP_WORDS, tiles } from '../figures/figures-view.ts'
import { figuresCall, RANGE_QUERY, rangeLinks, rangeWords, spanOf } from '../figures/ranges.ts'
import { outcomeText, reasonText } from '../figures/wording.ts'
import { TENANT_PATH, tenantPath } from '../navigation.ts'
import { fromAddress } from './people/paths.ts'
import { repeatedText } from './people/sign-in-words.ts'
import { page, type ConsoleRoute } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'

export function overviewRoutes({ figures, refusals, sessions, userNames }: ConsoleWorld) {
  return [
    page(
      { path: `${TENANT_PATH}/overview`, role: 'tenant', query: RANGE_QUERY },
      async ({ tenant: { tenantId, name, timeZone, mode }, query: { range }, nowMs }) => {
        const span = spanOf(range, nowMs)
        const series = await figures.series(tenantId, span)
        const latest = await refusals.latest(tenantId, LIMITS.refusalsListedMax)
        const names = await userNames.ofTenant(
          tenantId,
          latest.map(({ subject }) => subject),
        )
        const alive = await sessions.countAlive(tenantId)
        return {
          title: 'Overview',
          here: 'overview',
          intro: areRequestsCounted(series, mode)
            ? `Requests, refusals and sign-ins of ${name} in ${rangeWords(range)}.`
            : `Refusals and sign-ins of ${name} in ${rangeWords(range)}. Requests that its middleware lets through are not reported, except those of machines.`,
          hasCharts: true,
          content: html`${rangeLinks(tenantPath(tenantId, 'overview'), range)}
          ${tiles([...totals(series, mode), ['Active sessions now', countText(alive)]])}
          ${seriesCharts(series, STEP_WORDS[span.step], { mode, timeZone: timeZone === UNCHOSEN_ZONE ? undefined : timeZone })}
          ${latestCard(tenantId, latest, names)} ${reasonsCard(series)}`,
          calls: [{ method: 'GET', path: figuresCall(tenantId, span), label: 'These metrics' }],
        }
      },
    ),
  ] as const satisfies readonly ConsoleRoute[]
}

/** What a tenant has before anybody has said where it is. */
const UNCHOSEN_ZONE = 'UTC'

/** Counting goes so far and no further. */
function countText(alive: number): string {
  const most = LIMITS.sessionsCountedMax
  return alive < most ? alive.toLocaleString('en') : `${most.toLocaleString('en')} or more`
}

function latestCard(
  tenantId: string,
  latest: readonly LatestRefusal[],
  names: ReadonlyMap<string, string>,
) {
  return card(
    'Latest refusals',
    table({
      caption: 'Latest refusals',
      rows: latest,
      columns: [
        { label: 'Time', cell: ({ at }) => logMoment(at) },
        {
          label: 'Event',
          isName: true,
          cell: ({ outcome, repeated }) => outcomeText(outcome) + repeatedText(repeated),
        },
        { label: 'Reason', cell: ({ reason }) => (reason === '' ? '—' : reasonText(reason)) },
        { label: 'Path', cell: ({ path }) => (path == null ? '—' : html`<code>${path}</code>`) },
        { label: 'User', cell: ({ subject }) => personLink(tenantId, subject, names) },
        { label: 'IP address', cell: ({ ip }) => (ip === null ? null : fromAddress(tenantId, ip)) },
      ],
      empty: emptyState(
        'Nothing blocked yet',
        'Requests for sealed paths, failed sign-ins and those denied by a policy appear here.',
      ),
    }),
  )
}
