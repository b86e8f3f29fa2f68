/** Instances: the middlewares inside the application that poll what is decided about the tenant. */
import { html } from 'hono/html'
import { SECOND_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { VERSION } from '../../../shared/version.ts'
import { PAGE_QUERY } from '../../requests/paging.ts'
import type { FeedInstance } from '../../feed/instances.ts'
import type { Tenant } from '../../store/queries/tenants.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import { emptyState, pager, table } from '../blocks/table.ts'
import { age, badge, type Tone } from '../blocks/text.ts'
import type { Html } from '../../pages/html.ts'
import { TENANT_PATH, tenantPath } from '../navigation.ts'
import { page, type ConsoleRoute } from '../route.ts'
import { clockOffsetOf, whatToDoAboutTheClock } from '../../verification/application-clock.ts'
import { goneAfterMs } from '../../verification/judge-feed.ts'
import type { ConsoleWorld } from '../world.ts'

interface InstanceState {
  readonly word: string
  readonly tone: Tone
  readonly remark: string
}

/** Pure, and as the check `feed_polled` judges. What matters most comes first. */
export function instanceState(
  { lastPollMs, etagIsCurrent, clockOffsetMs }: FeedInstance,
  pollSeconds: number,
  nowMs: number,
): InstanceState {
  if (nowMs - lastPollMs > goneAfterMs(pollSeconds * SECOND_MS))
    return {
      word: 'Silent',
      tone: 'bad',
      remark:
        'It has stopped or cannot reach this service. It enforces the state of its last poll.',
    }
  if (!etagIsCurrent)
    return {
      word: 'Behind',
      tone: 'warm',
      remark: 'It picks up the latest state with its next poll.',
    }
  const offset = clockOffsetOf(clockOffsetMs ?? undefined)
  if (offset !== undefined)
    return { word: 'Clock is off', tone: 'warm', remark: whatToDoAboutTheClock(offset, false) }
  return { word: 'Up to date', tone: 'good', remark: '' }
}

export function instancesRoutes({ instances }: ConsoleWorld) {
  return [
    page(
      { path: `${TENANT_PATH}/instances`, role: 'tenant', query: PAGE_QUERY },
      async ({ tenant, query, address, nowMs }) => {
        const { tenantId, mode } = tenant
        const { items, next } = await instances.list(tenantId, query)
        const pollSeconds = instances.pollSeconds(tenantId)
        return {
          title: 'Instances',
          here: 'instances',
          intro:
            mode === 'sdk'
              ? `Middleware instances that enforce sign-in inside the application. Each polls every ${pollSeconds === 1 ? 'second' : `${pollSeconds} seconds`}; an instance that is silent for ${days(LIMITS.feedInstanceKeptMs)} is removed from this list.`
              : 'Middleware instances that enforce sign-in inside the application, in SDK mode.',
          buttons: items.length === 0 ? [] : [linkButton(address, 'Refresh', 'quiet')],
          content: html`${table({
            caption: 'Instances',
            rows: items,
            columns: [
              { label: 'Instance', isName: true, cell: ({ name }) => name || '(unnamed)' },
              { label: 'State', cell: (one) => stateOf(one, pollSeconds, nowMs) },
              { label: 'Last poll', cell: ({ lastPollMs }) => age(lastPollMs, nowMs) },
              { label: 'Lag', isNumber: true, cell: (one) => lagOf(one, nowMs) },
              { label: 'Version', cell: ({ version }) => versionOf(version) },
              {
                label: 'Clock',
                isNumber: true,
                cell: ({ clockOffsetMs }) => offsetOf(clockOffsetMs),
              },
            ],
            empty: emptyOf(tenant, query.cursor !== undefined),
          })}
          ${pager(address, { next, isFirst: query.cursor === undefined })}`,
          calls: [{ method: 'GET', path: `/api/v1/operator/tenants/${tenantId}/instances` }],
        }
      },
    ),
  ] as const satisfies readonly ConsoleRoute[]
}

function stateOf(instance: FeedInstance, pollSeconds: number, nowMs: number): Html {
  const { word, tone, remark } = instanceState(instance, pollSeconds, nowMs)
  return html`<div class="found-out">${badge(word, tone)}${remark === '' ? '' : html` <span class="hint">${remark}</span>`}</div>`
}

/** What has the newest state is not behind, however long ago it asked. */
function lagOf({ etagIsCurrent, lastPollMs }: FeedInstance, nowMs: number): string {
  if (etagIsCurrent) return 'none'
  return `up to ${Math.max(1, Math.ceil((nowMs - lastPollMs) / SECOND_MS))}\u00a0s`
}

function versionOf(version: string): Html {
  if (version === '') return html`<span class="none">unknown</span>`
  return version === VERSION
    ? html`${version}`
    : html`<span>${version} <span class="hint">latest: ${VERSION}</span></span>`
}

function offsetOf(offsetMs: number | null): string {
  if (offsetMs === null) return 'unknown'
  return `${offsetMs > 0 ? '+' : offsetMs < 0 ? '−' : ''}${(Math.abs(offsetMs) / SECOND_MS).toFixed(1)}\u00a0s`
}

const days = (ms: number) => `${Math.round(ms / (24 * 3600 * SECOND_MS))} days`

function emptyOf({ tenantId, mode, status, hostnames }: Tenant, isBehindFirstPage: boolean): Html {
  if (isBehindFirstPage) return emptyState('End of list', 'There are no more instances.')
  if (mode !== 'sdk')
    return emptyState(
      'No instances in this mode',
      `In ${mode} mode the gateway enforces sign-in in front of the application${hostnames[0] === undefined ? '' : ` at ${hostnames[0]}`}. Its middleware verifies signatures and does not poll.`,
      linkButton(tenantPath(tenantId), 'Open setup checklist', 'quiet'),
    )
  if (status === 'draft')
    return emptyState(
      'Publish the tenant first',
      'Instances can connect with the client secret once the tenant is published.',
      linkButton(tenantPath(tenantId), 'Open setup checklist'),
    )
  return emptyState(
    'No instance has polled yet',
    'Mount enforce() in the application and start it with the client secret. It appears here with its first poll.',
    linkButton(`${tenantPath(tenantId, 'integration')}?place=sdk#code`, 'Get the code'),
  )
}
