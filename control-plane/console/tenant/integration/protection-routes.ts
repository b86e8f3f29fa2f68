/** Going live and going back: asked first, with what happens to whom. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../store/queries/tenants.ts'
import { failedLocally, reportOf } from '../../../tenants/protection.ts'
import { asking } from '../../asking.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { moment } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import { done, type ConsoleRoute, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { obstaclesOf, type Obstacle } from './readiness.ts'

const PATH = `${TENANT_PATH}/integration`
const GoLiveForm = v.strictObject({ ignored: v.optional(v.string(), '') })
const at = (tenantId: string) => tenantPath(tenantId, 'integration')
const api = (tenantId: string) => `/api/v1/operator/tenants/${tenantId}`

export function protectionRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { tenants, verification } = world

  return [
    ...asking(
      {
        path: `${PATH}/go-live`,
        role: 'tenant',
        form: { ignored: 'optional' },
        body: GoLiveForm,
        here: 'integration',
      },
      async ({ tenant, nowMs }) => {
        const { tenantId, name } = tenant
        const { checks } = await verification.status(tenantId)
        const obstacles = obstaclesOf({ tenant, checks, nowMs })
        const isAnyway = obstacles.length > 0
        if (!obstacles.every(({ isReported }) => isReported)) return notYet(tenant, obstacles)
        return {
          title: isAnyway ? `Take ${name} live anyway?` : `Take ${name} live?`,
          effects: [
            ...obstacles.map(openEffect),
            ...liveEffects(tenant, await hasNobody(world, tenantId)),
          ],
          submit: isAnyway ? 'Go live anyway' : 'Go live',
          cancel: `${at(tenantId)}#live`,
          isHarmless: !isAnyway,
          // what is read here and no more: a report that comes meanwhile asks again
          ...(isAnyway && { hidden: { ignored: reportOf(failedLocally(checks, nowMs)) } }),
          calls: [{ method: 'POST', path: `${api(tenantId)}/go-live` }],
        }
      },
      async (visit, { ignored }) => {
        const { tenantId, name } = visit.tenant
        try {
          await tenants.goLive(tenantId, { force: false, ignoredReport: ignored }, visit.actor)
        } catch (error) {
          // what was so when the page was made need not be so any more
          if (!(error instanceof Refusal)) throw error
          const { checks } = await verification.status(tenantId)
          const tenant = await tenants.get(tenantId)
          const obstacles = obstaclesOf({ tenant, checks, nowMs: visit.nowMs })
          if (obstacles.length === 0) throw error
          return { ...notYet(tenant, obstacles), status: 409 as const }
        }
        return done(`${at(tenantId)}#live`, `${name} is live.`, { changed: tenantId })
      },
    ),
    ...asking(
      { path: `${PATH}/go-back`, role: 'tenant', needsFreshSignIn: true, here: 'integration' },
      (visit) => {
        const { tenantId, name } = visit.tenant
        return {
          title: `Return ${name} to pass-through?`,
          effects: backEffects(visit.tenant),
          submit: 'Go back to pass-through',
          cancel: `${at(tenantId)}#live`,
          calls: [{ method: 'POST', path: `${api(tenantId)}/go-back` }],
        }
      },
      async ({ tenant: { tenantId, name }, actor }) => {
        await tenants.goBack(tenantId, actor)
        const said = `${name} is back in pass-through: no one is asked to sign in.`
        return done(`${at(tenantId)}#live`, said, { changed: tenantId })
      },
    ),
  ]
}

const openEffect = ({ what, todo }: Obstacle) =>
  html`<b>${what}</b> Whoever reaches that port or path needs no sign-in. To close it: ${todo}`

function notYet({ tenantId, name }: Tenant, obstacles: readonly Obstacle[]): View {
  return {
    title: 'Not live yet',
    heading: `${name} can’t go live yet`,
    here: 'integration',
    content: html`<div class="card narrow">
      <p>Nothing was changed. Still missing:</p>
      ${obstacleList(obstacles)}
      <div class="submit">${linkButton(`${at(tenantId)}#checks`, 'Go to checks')}</div>
    </div>`,
    calls: [{ method: 'POST', path: `${api(tenantId)}/go-live` }],
  }
}

/** Where protection stands, and the one way on from there. */
export function protectionCard(tenant: Tenant, obstacles: readonly Obstacle[]): Html {
  const { tenantId, protection, protectionAt } = tenant
  if (protection === 'on')
    return html`${notice(
      'success',
      html`Live since ${moment(protectionAt)}: visitors have to sign in.`,
    )}
      <p>
        You can go back to pass-through at any time, after confirming it’s you. From then on, no one is
        asked to sign in.
      </p>
      ${dangerLink(`${at(tenantId)}/go-back`, 'Go back to pass-through …')}`
  if (obstacles.length > 0)
    return html`<p>Protection is off: all requests are forwarded. Before you can turn it on:</p>
      ${obstacleList(obstacles)}
      ${obstacles.every(({ isReported }) => isReported) ? dangerLink(`${at(tenantId)}/go-live`, 'Go live anyway …') : ''}`
  return html`<p>
      Everything is ready. Protection is off until you turn it on.
    </p>
    ${linkButton(`${at(tenantId)}/go-live`, 'Go live …')}`
}

const dangerLink = (href: string, label: string) =>
  html`<a class="button danger" href="${href}">${label}</a>`

function obstacleList(obstacles: readonly Obstacle[]): Html {
  return html`<ul class="effects">
    ${obstacles.map(({ what, todo }) => html`<li>${what}<br /><b>Next step:</b> ${todo}</li>`)}
  </ul>`
}

const addressesOf = ({ mode, origin, hostnames }: Tenant) =>
  mode === 'sdk' || hostnames.length === 0 ? origin : hostnames.join(', ')

function liveEffects(tenant: Tenant, isEmpty: boolean): (string | Html)[] {
  const { sealed, excluded, mode } = tenant
  return [
    ...(isEmpty
      ? [
          html`<b>There are no users yet, so no one could sign in.</b> Add people under Users
            first.`,
        ]
      : []),
    html`Anyone who opens <b>${addressesOf(tenant)}</b> without a session is sent to sign in; API
      clients get a 401 response.`,
    sealed.length === 0
      ? 'No paths are sealed.'
      : `These sealed paths return 404: ${sealed.join(', ')}.`,
    excluded.length === 0
      ? 'Every path requires sign-in.'
      : `These paths stay public: ${excluded.join(', ')}.`,
    mode === 'sdk'
      ? 'Application instances apply it at their next poll.'
      : 'All gateways apply it within a second; the next page shows when they have.',
  ]
}

function backEffects(tenant: Tenant): (string | Html)[] {
  const { sealed, mode, protection } = tenant
  return [
    ...(protection === 'on' ? [] : ['It is already in pass-through, so nothing would change.']),
    html`Anyone who opens <b>${addressesOf(tenant)}</b> reaches the application
      <b>without signing in</b>, ${mode === 'sdk' ? 'from the next poll of its instances' : 'immediately'}.`,
    ...(sealed.length === 0
      ? []
      : [html`Anyone can open the sealed paths: <b>${sealed.join(', ')}</b>.`]),
    'Requests of signed-in users still carry their identity. No one is signed out.',
    'The audit trail records this under your name. You can go live again with one click.',
  ]
}

/** Neither here nor in a database of the tenant's own. */
async function hasNobody({ users, directories }: ConsoleWorld, tenantId: string): Promise<boolean> {
  if ((await users.list(tenantId, { limit: 1 })).items.length > 0) return false
  return directories.get(tenantId).then(
    () => false,
    (error: unknown) => {
      if (error instanceof Refusal && error.status === 404) return true
      throw error
    },
  )
}
