/** The key by which connectors believe a list of gateways: how far its rotation is, who follows, and the next step. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { checkField } from '../../pages/blocks/field.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import type { Html } from '../../pages/html.ts'
import type { Authority } from '../../connectors/authority.ts'
import { asking } from '../asking.ts'
import { notice } from '../../pages/blocks/notice.ts'
import { table } from '../blocks/table.ts'
import { age, badge, card } from '../blocks/text.ts'
import { OPERATOR_ENTRIES, tenantPath } from '../navigation.ts'
import { done, type ConsoleRoute } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'

const KEYS = OPERATOR_ENTRIES.keysOfConsole.path
const PREPARE = `${KEYS}/connectors/prepare` as const
const PROMOTE = `${KEYS}/connectors/promote` as const
const API = '/api/v1/operator/connector-authority'
const WAITING_SHOWN = 20

const callOf = (body: object) => ({ method: 'POST', path: `${API}/rotate`, body }) as const

type Status = Awaited<ReturnType<Authority['status']>>
type Waiting = Status['waitingConnectors'][number]

export async function connectorAuthorityCard(
  authority: Pick<Authority, 'status'>,
  { isReadOnly, nowMs }: { isReadOnly: boolean; nowMs: number },
): Promise<Html> {
  const status = await authority.status(WAITING_SHOWN)
  const button = (path: string, text: string) => (isReadOnly ? '' : linkButton(path, text, 'quiet'))
  return card(
    'Connectors',
    html`<p>Connectors of all tenants believe a list of gateways only if this key has signed it. It is rotated in two steps, so that they have the next key before it signs.</p>
      ${keysOf(status)}
      ${
        status.next === null
          ? html`<p>Next: announce the next key. Nothing changes for connectors until it is promoted.</p>
            ${button(PREPARE, 'Announce the next key …')}`
          : html`${followers(status, nowMs)} ${button(PROMOTE, 'Promote the next key …')}`
      }`,
    'connector-authority',
  )
}

function keysOf({ current, next }: Status): Html {
  if (current === null) return html`<p class="hint">It is made when the first connector joins.</p>`
  const rows = [
    { key: current, state: badge('Active', 'good') },
    ...(next === null ? [] : [{ key: next, state: badge('Next', 'plain') }]),
  ]
  return table({
    caption: 'Keys that connectors trust',
    rows,
    columns: [
      { label: 'Key', isName: true, cell: ({ key }) => html`<code>${key}</code>` },
      { label: 'State', cell: ({ state }) => state },
    ],
    empty: html``,
  })
}

/** Whoever has not confirmed the next key, the longest unseen first. */
function followers({ waiting, waitingConnectors }: Status, nowMs: number): Html {
  if (waiting === 0) return notice('success', 'All connectors have the next key. Promote it.')
  const more = waiting - waitingConnectors.length
  return html`${notice(
    'info',
    `${waiting === 1 ? 'One connector has' : `${waiting.toLocaleString('en')} connectors have`} not confirmed the next key. They ask every minute: start those that are away, or remove them, then promote it.`,
  )}
  ${table<Waiting>({
    caption: 'Connectors without the next key',
    rows: waitingConnectors,
    columns: [
      { label: 'Connector', isName: true, cell: ({ name, connectorId }) => name || connectorId },
      {
        label: 'Tenant',
        cell: ({ tenantId }) =>
          html`<a href="${tenantPath(tenantId, 'connectors')}">${tenantId}</a>`,
      },
      {
        label: 'Last seen',
        cell: ({ seenAt }) => (seenAt === null ? 'never' : age(seenAt, nowMs)),
      },
    ],
    empty: html``,
  })}
  ${more > 0 ? html`<p class="hint">And ${more.toLocaleString('en')} more.</p>` : ''}`
}

export function connectorAuthorityRoutes({
  connectorAuthority,
}: ConsoleWorld): readonly ConsoleRoute[] {
  const question = { role: 'operator', here: 'keysOfConsole', isOnce: true } as const
  return [
    ...asking(
      { ...question, path: PREPARE, needsFreshSignIn: true },
      () => ({
        title: 'Announce the next key to connectors?',
        effects: [
          'Lists of gateways name the next key from now on; the current key still signs them.',
          'Connectors save it and confirm it within a minute or two.',
          'Every control plane has to be of this release before you do this.',
        ],
        submit: 'Announce the next key',
        cancel: KEYS,
        calls: [callOf({ phase: 'prepare' })],
      }),
      async ({ actor }) => {
        await connectorAuthority.prepare(actor)
        return done(KEYS, 'Next key announced. It does not sign yet.')
      },
    ),
    ...asking(
      {
        ...question,
        path: PROMOTE,
        form: { force: 'flag', leaked: 'flag' },
        body: v.strictObject({ force: v.boolean(), leaked: v.boolean() }),
        needsFreshSignIn: true,
        isAskedAgain: true,
      },
      (_visit, attempt) => ({
        title: 'Promote the next key of connectors?',
        effects: [
          'The next key signs from now on, and the current one is deleted.',
          'Refused while connectors have not confirmed it, unless you force it: those follow when they are back.',
          'After a leak, connectors that have not heard of the next key have to leave and join again with a new token.',
        ],
        submit: 'Promote the next key',
        cancel: KEYS,
        content: html`${checkField({
          name: 'force',
          label: 'Force: although connectors have not confirmed it',
          attempt,
        })}
        ${checkField({
          name: 'leaked',
          label: 'The current key has leaked: it leaves no word for the next one',
          attempt,
        })}`,
        calls: [callOf({ phase: 'promote' })],
      }),
      async ({ actor }, how) => {
        await connectorAuthority.promote(how, actor)
        return done(
          KEYS,
          how.leaked
            ? 'Key of connectors rotated. A key that was announced before the leak has leaked too: rotate once more.'
            : 'Key of connectors rotated.',
        )
      },
    ),
  ]
}
