/** Devices: looked for and listed, exported, and several of them revoked at once. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { ListedDevice } from '../../../devices/management.ts'
import type { Attempt } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { deviceCsv } from '../../../requests/device-csv.ts'
import { form } from '../../blocks/form.ts'
import { pager } from '../../blocks/table.ts'
import type { QueryValues } from '../../../http/query.ts'
import { csvFile } from '../../csv-file.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import {
  DEVICE_FILTERS,
  DEVICE_LIST_QUERY,
  deviceTable,
  filterForm,
  filterOf,
  selectable,
} from './device-list.ts'
import { lookUpOf } from './look-up.ts'
import { apiOf, DEVICES, devicesPath, enrollPath } from './paths.ts'
import { honesty } from './words.ts'
import type { ConsoleWorld } from '../../world.ts'

const MOST = LIMITS.devicesRevokedAtOnceMax
const NAMED = 10
const WISH = `1 to ${MOST} devices`
const deviceIds = v.pipe(
  v.array(v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,100}$/, 'the ID of a device'))),
  v.minLength(1, WISH),
  v.maxLength(MOST, WISH),
)
const SelectedBody = v.strictObject({ device_id: deviceIds })
const ConfirmedBody = v.strictObject({ device_ids: deviceIds })

const countOf = (count: number) => (count === 1 ? '1 device' : `${count} devices`)

export function devicesRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { enrolledDevices, auditTrail } = world
  const lookUp = lookUpOf(world)

  /** Those that there still are: what was chosen may be gone. */
  async function found(tenantId: string, ids: readonly string[]): Promise<ListedDevice[]> {
    const each = await Promise.all(
      [...new Set(ids)].map((id) => enrolledDevices.find(tenantId, id).catch(isGone)),
    )
    return each.filter((device) => device !== undefined).filter(({ state }) => state !== 'revoked')
  }

  async function question(visit: TenantVisit, ids: readonly string[], attempt?: Attempt) {
    const { tenantId } = visit.tenant
    const devices = await found(tenantId, ids)
    if (devices.length === 0) throw new Refusal('device_not_found')
    const path = devicesPath(tenantId)
    const others = devices.length - NAMED
    const names = devices.slice(0, NAMED).map(({ hostname }) => hostname)
    const view: View = {
      title: `Revoke ${countOf(devices.length)}?`,
      here: 'devices',
      content: html`<div class="card narrow">
        <ul class="effects">
          <li>${names.join(', ')}${others > 0 ? ` and ${others} more` : ''}</li>
          <li>All sessions started on them end immediately, on every gateway.</li>
          <li>Their agents are refused. To use one again, enroll it with a new ticket.</li>
        </ul>
        ${form(visit, {
          action: `${path}/selected/confirm`,
          submit: 'Revoke',
          cancel: path,
          look: 'danger',
          attempt,
          hidden: { device_ids: devices.map(({ deviceId }) => deviceId).join('\n') },
        })}
      </div>`,
    }
    return view
  }

  /** What was chosen, as it was sent; too many or none of it is said on a page of its own. */
  function again(visit: TenantVisit, attempt: Attempt, sent: readonly string[]) {
    const checked = v.safeParse(SelectedBody, { device_id: sent })
    if (checked.success) return question(visit, checked.output.device_id, attempt)
    throw new Refusal('field_invalid', { field: 'device_id' }, `Select ${WISH}, then try again.`)
  }

  return [
    page({ path: DEVICES, role: 'tenant', query: DEVICE_LIST_QUERY }, async (visit) => {
      const { tenant, query, proofs, address, nowMs } = visit
      const { tenantId, name } = tenant
      const { limit: _limit, cursor, ...filters } = query
      const { items, next } = await enrolledDevices.list(tenantId, filterOf(filters), query)
      const isFiltered = Object.values(filters).some((value) => value !== undefined && value !== '')
      const known = await lookUp(tenantId, items, nowMs)
      const path = devicesPath(tenantId)
      return {
        title: 'Devices',
        here: 'devices',
        intro: `Machines that run our agent and can be used to sign in to ${name}.`,
        buttons: [
          linkButton(`${path}/export${searchOf(filters)}`, 'Export CSV', 'quiet'),
          ...(proofs.isReadOnly ? [] : [linkButton(enrollPath(tenantId), 'Enroll devices')]),
        ],
        content: html`${honesty()} ${filterForm(tenantId, filters)}
        ${selectable(visit, deviceTable(visit, items, { ...known, isFiltered }), items.length)}
        ${pager(address, { next, isFirst: cursor === undefined })}`,
        calls: [
          { method: 'GET', path: apiOf(tenantId, 'devices') },
          {
            method: 'POST',
            path: `${apiOf(tenantId, 'devices')}/revoke`,
            body: { device_ids: ['dev_1b9f6c1e2d3a4b5c'] },
          },
        ],
      }
    }),
    page(
      { path: `${DEVICES}/export`, role: 'tenant', query: DEVICE_FILTERS },
      async ({ tenant: { tenantId }, query, actor }) => {
        await auditTrail.exported(actor, 'devices', query, tenantId)
        return csvFile(
          `devices-${tenantId}.csv`,
          deviceCsv(enrolledDevices, tenantId, filterOf(query)),
        )
      },
    ),
    action(
      {
        path: `${DEVICES}/selected`,
        role: 'tenant',
        form: { device_id: 'choices' },
        body: SelectedBody,
        needsFreshSignIn: true,
      },
      (visit, { device_id: ids }) => question(visit, ids),
      (visit, attempt) => again(visit, attempt, attempt.choices.get('device_id') ?? []),
    ),
    action(
      {
        path: `${DEVICES}/selected/confirm`,
        role: 'tenant',
        form: { device_ids: 'lines' },
        body: ConfirmedBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, { device_ids: ids }) => {
        const { tenant, actor } = visit
        const meant = (await found(tenant.tenantId, ids)).map(({ deviceId }) => deviceId)
        if (meant.length === 0) throw new Refusal('device_not_found')
        const { sessions, enforced } = await enrolledDevices.revoke(tenant.tenantId, meant, actor)
        const ended = sessions === 1 ? '1 session' : `${sessions} sessions`
        return done(
          devicesPath(tenant.tenantId),
          `${countOf(meant.length)} revoked, ${ended} ended.`,
          { changed: tenant.tenantId, enforced },
        )
      },
      (visit, attempt) =>
        again(visit, attempt, (attempt.values.get('device_ids') ?? '').split('\n')),
    ),
  ]
}

function isGone(error: unknown): undefined {
  if (error instanceof Refusal && error.code === 'device_not_found') return undefined
  throw error
}

function searchOf(filters: QueryValues<typeof DEVICE_FILTERS>): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given as [string, string][]).toString()
  return search === '' ? '' : `?${search}`
}
