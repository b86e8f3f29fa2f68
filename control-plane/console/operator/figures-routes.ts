/** Metrics: the whole service at a glance, and who is refused most. */
import { html } from 'hono/html'
import { LIMITS } from '../../../shared/limits.ts'
import type { RefusedTenant } from '../../store/queries/service-figures.ts'
import { emptyState, table } from '../blocks/table.ts'
import { card, facts } from '../blocks/text.ts'
import { totals } from '../figures/chart-lines.ts'
import { reasonsCard, seriesCharts, STEP_WORDS, tiles } from '../figures/figures-view.ts'
import { RANGE_QUERY, rangeLinks, rangeWords, spanOf } from '../figures/ranges.ts'
import { tenantPath } from '../navigation.ts'
import { page, type ConsoleRoute } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'

const PATH = '/console/figures'

export function figuresRoutes({ figures, webhookQueue }: ConsoleWorld) {
  return [
    page(
      { path: PATH, role: 'operator', query: RANGE_QUERY },
      async ({ query: { range }, nowMs }) => {
        const span = spanOf(range, nowMs)
        const series = await figures.seriesOfAll(span)
        const step = range === 'hour' ? 'hour' : 'day'
        const most = await figures.mostRefused(step, LIMITS.refusalsListedMax)
        return {
          title: 'Metrics',
          here: 'figures',
          intro: `Requests, refusals and sign-ins of all tenants in ${rangeWords(range)}.`,
          hasCharts: true,
          content: html`${rangeLinks(PATH, range)}
          ${tiles(totals(series))}
          ${card('Webhooks', queueFacts(await webhookQueue()))} ${seriesCharts(series, STEP_WORDS[span.step])}
          ${card(step === 'hour' ? 'Most refusals in this hour' : 'Most refusals today (UTC)', mostRefused(most))}
          ${reasonsCard(series)}`,
          calls: [
            {
              method: 'GET',
              path: '/api/v1/operator/tenants/acme/figures',
              label: 'Metrics of one tenant',
            },
          ],
        }
      },
    ),
  ] as const satisfies readonly ConsoleRoute[]
}

function queueFacts(queue: Awaited<ReturnType<ConsoleWorld['webhookQueue']>>) {
  const written = (count: number) => count.toLocaleString('en')
  return facts([
    ['Events to process', written(queue.eventsWaiting)],
    ['Deliveries queued', written(queue.deliveriesWaiting)],
    ['Requests in progress', written(queue.underWay)],
    ['Delivered since startup', written(queue.delivered)],
    ['Failed since startup', written(queue.givenUp)],
    ['Webhooks paused since startup', written(queue.paused)],
  ])
}

function mostRefused(most: readonly RefusedTenant[]) {
  return table({
    caption: 'Tenants with the most refusals',
    rows: most,
    columns: [
      {
        label: 'Tenant',
        isName: true,
        cell: ({ tenantId, name }) =>
          html`<a href="${tenantPath(tenantId, 'overview')}">${name}</a> <span class="hint">${tenantId}</span>`,
      },
      { label: 'Refusals', isNumber: true, cell: ({ count }) => count.toLocaleString('en') },
    ],
    empty: emptyState(
      'No refusals',
      'Tenants with the most refused requests and sign-ins appear here.',
    ),
  })
}
