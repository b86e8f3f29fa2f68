/**
 * Where a command line tool is allowed a tenant's analyzer key. Whoever opens the link may have been
 * sent it: so the code is compared, and what the tool says of itself is shown as just that.
 */
import * as v from 'valibot'
import { Refusal } from '../../../shared/errors.ts'
import { DEVICE_PATH, type DeviceRequest } from '../../console-access/device-codes.ts'
import type { Attempt } from '../../pages/blocks/field.ts'
import { searched } from '../filters.ts'
import { tenantPath } from '../navigation.ts'
import { action, done, page, type ConsoleRoute, type View, type ViewerVisit } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'
import { offeredTenants } from './device-tenants.ts'
import { allowedView, deniedView, enterCodeView, requestView } from './device-views.ts'

const typed = v.optional(v.pipe(v.string(), v.maxLength(40, 'a code like BCDF-GHJK')), '')
const tenantId = v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,63}$/, 'one of the list'))
const DecisionBody = v.strictObject({ code: v.string() })
const AllowBody = v.strictObject({
  code: v.string(),
  tenant_id: tenantId,
  secret_as_well: v.boolean(),
})

const anyTenant = v.optional(v.pipe(v.string(), v.maxLength(63, 'the id of a tenant')), '')
const QUERY = { code: typed, q: searched, tenant_id: anyTenant } as const

interface Looked {
  readonly code: string
  readonly q: string
  readonly tenant_id: string
}

const ALLOWED_PATH = `${DEVICE_PATH}/allowed` as const
const DENIED_PATH = `${DEVICE_PATH}/denied` as const

/** Back from creating a tenant for it. */
export const deviceAddress = (code: string, tenantId: string): string =>
  `${DEVICE_PATH}?code=${encodeURIComponent(code)}&tenant_id=${tenantId}`

export function deviceRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { tenants, clientsHidden } = world
  const { deviceCodes } = world.consoleAccess

  async function findOrRefuse(visit: ViewerVisit, code: string): Promise<DeviceRequest> {
    const request = await deviceCodes.look(code, visit.viewer.userId)
    if (request === undefined) throw new Refusal('device_code_not_found', { field: 'code' })
    return request
  }

  async function show(visit: ViewerVisit, looked: Looked, attempt?: Attempt): Promise<View> {
    const { viewer, from } = visit
    if (looked.code === '') return enterCodeView('')
    try {
      const request = await deviceCodes.look(looked.code, viewer.userId)
      if (request === undefined)
        return enterCodeView(looked.code, new Refusal('device_code_not_found'))
      const chosen = attempt?.values.get('tenant_id') ?? looked.tenant_id
      const offered = await offeredTenants(tenants, viewer, { text: looked.q, chosen })
      return requestView(visit, {
        request,
        offered,
        text: looked.q,
        chosen,
        ownAddress: clientsHidden ? undefined : from,
        attempt,
      })
    } catch (error) {
      if (error instanceof Refusal && error.code === 'rate_limited')
        return enterCodeView(looked.code, error)
      throw error
    }
  }

  const again = (visit: ViewerVisit, attempt: Attempt) =>
    show(visit, { code: attempt.values.get('code') ?? '', q: '', tenant_id: '' }, attempt)

  return [
    page({ path: DEVICE_PATH, role: 'viewer', query: QUERY, needsFreshSignIn: true }, (visit) =>
      show(visit, visit.query),
    ),
    action(
      {
        path: `${DEVICE_PATH}/allow`,
        role: 'viewer',
        form: { code: 'text', tenant_id: 'text', secret_as_well: 'flag' },
        body: AllowBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, { code, tenant_id: tenantId, secret_as_well: handsSecret }) => {
        const { viewer, actor } = visit
        const { machine } = await findOrRefuse(visit, code)
        await deviceCodes.allow(code, { tenantId, handsSecret }, viewer, actor)
        const who = machine === '' ? 'The command-line tool' : machine
        return done(
          `${ALLOWED_PATH}?tenant_id=${tenantId}`,
          `${who} may fetch the analyzer key of ${tenantId}.`,
        )
      },
      again,
    ),
    action(
      {
        path: `${DEVICE_PATH}/deny`,
        role: 'viewer',
        form: { code: 'text' },
        body: DecisionBody,
        isOnce: true,
      },
      async (visit, { code }) => {
        await findOrRefuse(visit, code)
        await deviceCodes.deny(code, visit.actor)
        return done(DENIED_PATH, 'Request denied.')
      },
      again,
    ),
    page(
      { path: ALLOWED_PATH, role: 'viewer', query: { tenant_id: anyTenant } },
      async ({ viewer, query: { tenant_id: tenantId } }) => {
        const isTheirs = viewer.isOperator || viewer.tenantIds.includes(tenantId)
        const tenant = isTheirs ? await tenants.find(tenantId) : undefined
        return allowedView(tenant && { name: tenant.name, href: tenantPath(tenant.tenantId) })
      },
    ),
    page({ path: DENIED_PATH, role: 'viewer' }, () => deniedView()),
  ]
}
