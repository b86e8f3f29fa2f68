/** Going live and going back: asked first, with what happens to whom. */
import { html } from 'hono/html'
import { Refusal } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../store/queries/tenants.ts'
import { asking } from '../../asking.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { moment } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import { done, type ConsoleRoute, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { obstaclesOf, type Obstacle } from './readiness.ts'

type ProtectionWorld = Pick<ConsoleWorld, 'tenants' | 'verification' | 'users' | 'directories'>

const PATH = `${TENANT_PATH}/integration`
const at = (tenantId: string) => tenantPath(tenantId, 'integration')
const api = (tenantId: string) => `/api/v1/operator/tenants/${tenantId}`

export function protectionRoutes(world: ProtectionWorld): readonly ConsoleRoute[] {
  const { tenants, verification } = world

  return [
    ...asking(
      { path: `${PATH}/go-live`, role: 'tenant', here: 'integration' },
      async ({ tenant, nowMs }) => {
        const { tenantId, name } = tenant
        const { checks } = await verification.status(tenantId)
        const obstacles = obstaclesOf({ tenant, checks, nowMs })
        if (obstacles.length > 0) return notYet(tenant, obstacles)
        return {
          title: `Take ${name} live?`,
          effects: liveEffects(tenant, await hasNobody(world, tenantId)),
          submit: 'Go live',
          cancel: `${at(tenantId)}#live`,
          isHarmless: true,
          calls: [{ method: 'POST', path: `${api(tenantId)}/go-live` }],
        }
      },
      async (visit) => {
        const { tenantId, name } = visit.tenant
        try {
          await tenants.goLive(tenantId, { force: false }, visit.actor)
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
          title: `Take ${name} back to pass-through?`,
          effects: backEffects(visit.tenant),
          submit: 'Go back to pass-through',
          cancel: `${at(tenantId)}#live`,
          calls: [{ method: 'POST', path: `${api(tenantId)}/go-back` }],
        }
      },
      async ({ tenant: { tenantId, name }, actor }) => {
        await tenants.goBack(tenantId, actor)
        const said = `${name} is back in pass-through: nobody is asked to sign in.`
        return done(`${at(tenantId)}#live`, said, { changed: tenantId })
      },
    ),
  ]
}

function notYet({ tenantId, name }: Tenant, obstacles: readonly Obstacle[]): View {
  return {
    title: 'Not live yet',
    heading: `${name} cannot go live yet`,
    here: 'integration',
    content: html`<div class="card narrow">
      <p>Nothing has been changed. This is missing:</p>
      ${obstacleList(obstacles)}
      <div class="submit">${linkButton(`${at(tenantId)}#checks`, 'To the checks')}</div>
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
      html`Live since ${moment(protectionAt)}: every request is signed in.`,
    )}
      <p>
        Going back to pass-through is possible at any time, and takes a fresh sign-in. Nobody is
        asked to sign in from then on.
      </p>
      ${dangerLink(`${at(tenantId)}/go-back`, 'Go back to pass-through …')}`
  if (obstacles.length > 0)
    return html`<p>Protection is off: everything is forwarded. Before it can be turned on:</p>
      ${obstacleList(obstacles)}`
  return html`<p>
      All that it takes has been seen. Protection is off until you turn it on.
    </p>
    ${linkButton(`${at(tenantId)}/go-live`, 'Go live …')}`
}

const dangerLink = (href: string, label: string) =>
  html`<a class="button danger" href="${href}">${label}</a>`

function obstacleList(obstacles: readonly Obstacle[]): Html {
  return html`<ul class="effects">
    ${obstacles.map(({ what, todo }) => html`<li>${what}<br /><b>Do this:</b> ${todo}</li>`)}
  </ul>`
}

const addressesOf = ({ mode, origin, hostnames }: Tenant) =>
  mode === 'sdk' || hostnames.length === 0 ? origin : hostnames.join(', ')

function liveEffects(tenant: Tenant, isEmpty: boolean): (string | Html)[] {
  const { sealed, excluded, mode } = tenant
  return [
    ...(isEmpty
      ? [
          html`<b>Nobody has an account yet: nobody could get in.</b> Add people on the page Users
            first.`,
        ]
      : []),
    html`Whoever opens <b>${addressesOf(tenant)}</b> without a session is sent to sign in; programs
      get 401.`,
    sealed.length === 0
      ? 'No path is sealed.'
      : `For the outside these stop to exist: ${sealed.join(', ')}.`,
    excluded.length === 0
      ? 'No path stays open without a sign-in.'
      : `These stay open without a sign-in: ${excluded.join(', ')}.`,
    mode === 'sdk'
      ? 'The instances of the application hear of it with their next poll.'
      : 'All gateways hear of it within a second; the receipt says so.',
  ]
}

function backEffects(tenant: Tenant): (string | Html)[] {
  const { sealed, mode, protection } = tenant
  return [
    ...(protection === 'on' ? [] : ['It is in pass-through already: nothing would change.']),
    html`Whoever opens <b>${addressesOf(tenant)}</b> reaches the application <b>without a
      sign-in</b>, from ${mode === 'sdk' ? 'the next poll of its instances' : 'the same second'} on.`,
    ...(sealed.length === 0
      ? []
      : [html`Sealed paths can be opened by anybody: <b>${sealed.join(', ')}</b>.`]),
    'Requests of people who are signed in still say who they are; nobody is signed out.',
    'It is written into the audit trail with your name. Going live again takes one click.',
  ]
}

/** Neither here nor in a database of the tenant's own. */
async function hasNobody(
  { users, directories }: ProtectionWorld,
  tenantId: string,
): Promise<boolean> {
  if ((await users.list(tenantId, { limit: 1 })).items.length > 0) return false
  return directories.get(tenantId).then(
    () => false,
    (error: unknown) => {
      if (error instanceof Refusal && error.status === 404) return true
      throw error
    },
  )
}
