/** With what devices enroll: tickets that are open, a new one with its command, and one taken back. */
import * as v from 'valibot'
import { html } from 'hono/html'
import { DEVICE_PLATFORMS, type DevicePlatform } from '../../../../shared/device/facts.ts'
import { Refusal } from '../../../../shared/errors.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { DeviceTicket } from '../../../devices/tickets.ts'
import { selectField, textField, type Attempt } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { DEVICE_WORDS } from '../../../../shared/device-words/say-reason.ts'
import type { Html } from '../../../pages/html.ts'
import { NewDeviceTicketBody } from '../../../requests/device-fields.ts'
import { fromOutside } from '../../../requests/field-names.ts'
import { asking } from '../../asking.ts'
import { form } from '../../blocks/form.ts'
import { deleteColumn, EXPIRES, madeCard, USES_LEFT, usesAndExpiry } from '../../blocks/joining.ts'
import { table } from '../../blocks/table.ts'
import { card, copyable } from '../../blocks/text.ts'
import { searched } from '../../filters.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { howToEnroll } from './commands.ts'
import { ownerCell } from './device-list.ts'
import { apiOf, devicesPath, ENROLL, enrollPath } from './paths.ts'
import { typedPeople } from '../people/typed-people.ts'
import { PLATFORMS } from './words.ts'

const TICKET_FORM = {
  platform: 'text',
  uses: 'whole',
  expires_in: 'whole',
  user_id: 'optional',
  network: 'optional',
} as const
/** Whose the devices will be as it is typed. */
const TicketBody = v.strictObject({
  ...NewDeviceTicketBody.entries,
  user_id: v.optional(v.pipe(v.string(), v.maxLength(LIMITS.emailCharactersMax))),
})

export function ticketRoutes({
  deviceTickets,
  baseUrl,
  users,
}: ConsoleWorld): readonly ConsoleRoute[] {
  const people = typedPeople(users)

  async function show(visit: TenantVisit, attempt?: Attempt, userId = ''): Promise<View> {
    const { tenantId, name } = visit.tenant
    const { isReadOnly } = visit.proofs
    const tickets = await deviceTickets.list(tenantId)
    const ids = [...new Set(tickets.flatMap((ticket) => ticket.userId ?? []))]
    const owners = await Promise.all(ids.map((id) => users.find(tenantId, id)))
    const names = new Map(owners.flatMap((user) => (user ? [[user.userId, user.name]] : [])))
    return {
      title: 'Enroll devices',
      here: 'devices',
      intro: `Install our agent with a ticket to add a machine to ${name}.`,
      buttons: [linkButton(devicesPath(tenantId), 'All devices', 'quiet')],
      content: html`${isReadOnly ? '' : card('New ticket', newTicket(visit, userId, attempt), 'new-ticket')}
        ${card('Open tickets', ticketTable(visit, tickets, names), 'tickets')}
        ${card('What the agent reports', whatIsCollected(), 'collected')}`,
      calls: [
        { method: 'GET', path: apiOf(tenantId, 'device-tickets') },
        {
          method: 'POST',
          path: apiOf(tenantId, 'device-tickets'),
          body: { platform: 'linux', uses: 1 },
        },
      ],
    }
  }

  return [
    page({ path: ENROLL, role: 'tenant', query: { user_id: searched } }, (visit) =>
      show(visit, undefined, visit.query.user_id),
    ),
    action(
      {
        path: ENROLL,
        role: 'tenant',
        form: TICKET_FORM,
        body: TicketBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, body) => {
        const { tenant, actor } = visit
        const { user_id: typed, ...wanted } = body
        const owner = typed && { user_id: await people.idOf(tenant.tenantId, typed, 'user_id') }
        const made = await deviceTickets.make(
          tenant.tenantId,
          fromOutside({ ...wanted, ...owner }),
          actor,
        )
        return ticketView(visit, made, baseUrl)
      },
      show,
    ),
    ...asking(
      {
        path: `${ENROLL}/{ticket_id}/delete`,
        role: 'tenant',
        here: 'devices',
        needsFreshSignIn: true,
      },
      async (visit) => {
        const { tenant, path } = visit
        const all = await deviceTickets.list(tenant.tenantId)
        const one = all.find(({ ticketId }) => ticketId === path.ticket_id)
        if (one === undefined) throw new Refusal('device_ticket_not_found')
        return {
          title: `Delete the ticket ${one.ticketId}?`,
          effects: [
            'No device can enroll with it anymore.',
            'Devices that already enrolled are not affected.',
          ],
          submit: 'Delete ticket',
          cancel: enrollPath(tenant.tenantId),
          calls: [
            {
              method: 'DELETE',
              path: `${apiOf(tenant.tenantId, 'device-tickets')}/${one.ticketId}`,
            },
          ],
        }
      },
      async (visit) => {
        const { tenant, path, actor } = visit
        await deviceTickets.remove(tenant.tenantId, path.ticket_id, actor)
        return done(enrollPath(tenant.tenantId), 'Ticket deleted.')
      },
    ),
  ]
}

function ticketTable(
  { tenant: { tenantId }, proofs }: TenantVisit,
  rows: readonly DeviceTicket[],
  names: ReadonlyMap<string, string>,
): Html {
  return table({
    caption: 'Open tickets',
    rows,
    columns: [
      {
        label: 'Ticket',
        isName: true,
        cell: ({ platform, ticketId }) =>
          html`${PLATFORMS[platform]} <span class="hint">${ticketId}</span>`,
      },
      USES_LEFT,
      { label: 'Owner', cell: ({ userId }) => ownerCell(tenantId, userId, names) },
      { label: 'Network', cell: ({ network }) => network ?? 'Any' },
      EXPIRES,
      ...(proofs.isReadOnly
        ? []
        : [
            deleteColumn<DeviceTicket>(
              ({ ticketId }) => `${enrollPath(tenantId)}/${ticketId}`,
              ({ ticketId }) => ticketId,
            ),
          ]),
    ],
    empty: html`<p class="hint">None. Tickets that are used up or have expired are not listed.</p>`,
  })
}

function newTicket(visit: TenantVisit, userId: string, attempt: Attempt | undefined): Html {
  return html`<p>
      A device uses a ticket once, to enroll. From then on it identifies itself with its own key,
      which never leaves it.
    </p>
    ${form(visit, {
      action: enrollPath(visit.tenant.tenantId),
      submit: 'Create ticket',
      attempt,
      content: html`${selectField({
        name: 'platform',
        label: 'Platform',
        options: DEVICE_PLATFORMS.map((value) => ({ value, label: PLATFORMS[value] })),
        value: DEVICE_PLATFORMS[0],
        attempt,
      })}
      ${usesAndExpiry(
        'devices can enroll',
        {
          usesMax: LIMITS.deviceTicketUsesMax,
          secondsMax: LIMITS.deviceTicketSecondsMax,
          secondsDefault: LIMITS.deviceTicketSecondsDefault,
        },
        attempt,
      )}
      ${textField({
        name: 'user_id',
        label: 'Owner',
        hint: 'Username or email. If empty, a device belongs to whoever first signs in with it.',
        charactersMax: LIMITS.emailCharactersMax,
        value: userId,
        isOptional: true,
        attempt,
      })}
      ${textField({
        name: 'network',
        label: 'Network',
        hint: 'For example 192.0.2.0/24. If set, the ticket only works from there.',
        isOptional: true,
        attempt,
      })}`,
    })}`
}

const whatIsCollected = (): Html => {
  const { collected, notCollected } = DEVICE_WORDS.en
  return html`<ul class="effects">
      ${collected.map((one) => html`<li>${one}</li>`)}
    </ul>
    <p>${notCollected}</p>`
}

interface MadeTicket {
  readonly ticket: string
  readonly platform: DevicePlatform
  readonly uses: number
  readonly expiresAt: number
}

function ticketView(visit: TenantVisit, made: MadeTicket, baseUrl: string): View {
  const { ticket, platform, uses, expiresAt } = made
  const { tenantId } = visit.tenant
  return {
    title: 'Ticket',
    here: 'devices',
    content: madeCard({
      ...{ title: 'Ticket', one: 'device', many: 'devices', can: 'enroll', uses, expiresAt },
      content: html`${howToEnroll(baseUrl, platform, { ticket, tenantId })} ${copyable(ticket, 'Ticket')}`,
      back: enrollPath(tenantId),
    }),
  }
}
