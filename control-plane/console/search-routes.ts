/** The switcher: to tenants, pages and people by a few letters; a page, and JSON for the script. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import type { Tenant } from '../tenants/tenants.ts'
import type { Viewer } from '../console-access/console-sessions.ts'
import { emptyState } from './blocks/table.ts'
import { textField } from '../pages/blocks/field.ts'
import { operatorLinks, tenantLinks, tenantPath, type NavigationLink } from './navigation.ts'
import { page } from './route.ts'
import { searched } from './filters.ts'
import type { ConsoleWorld } from './world.ts'

interface Found {
  readonly label: string
  readonly detail: string
  readonly href: string
}

const MOST = LIMITS.consoleSearchResultsMax

const QUERY = {
  q: searched,
  /** The tenant that one looks from. */
  in: v.optional(v.pipe(v.string(), v.maxLength(63, 'the id of a tenant')), ''),
} as const

export function searchRoutes(world: ConsoleWorld, paths: () => ReadonlySet<string>) {
  return [
    page({ path: '/console/search', role: 'viewer', query: QUERY }, async (visit) => {
      const { viewer, query, request } = visit
      const { q: text } = query
      const near = isVisible(viewer, query.in) ? await world.tenants.find(query.in) : undefined
      const { pages, tenants, people } = await find(world, viewer, text, near, paths())
      const items = [...pages, ...tenants, ...people]
      if ((request.headers.get('accept') ?? '').includes('application/json'))
        return Response.json({ items }, { headers: { 'Cache-Control': 'no-store' } })
      return {
        title: 'Search',
        here: 'search',
        ...(near !== undefined && { tenant: near }),
        content: html`<form method="get" action="/console/search" class="filters" role="search">
            <input type="hidden" name="in" value="${near?.tenantId ?? ''}" />
            ${textField({ name: 'q', label: 'Tenant, page or person', type: 'search', value: text, isFree: true, charactersMax: LIMITS.consoleSearchCharactersMax })}
            <div class="submit"><button type="submit" class="button">Search</button></div>
          </form>
          ${
            items.length === 0
              ? emptyState(
                  'No results',
                  'Search by any part of a name, email address, username or ID.',
                )
              : html`<ul class="card found">
                  ${items.map(({ label, detail, href }) => html`<li><a href="${href}"><span>${label}</span><span>${detail}</span></a></li>`)}
                </ul>
                ${people.length < MOST ? '' : morePeople(near, text)}`
          }`,
      }
    }),
  ]
}

interface FoundByKind {
  readonly pages: readonly Found[]
  readonly tenants: readonly Found[]
  readonly people: readonly Found[]
}

/** There may be others; in a tenant its list of users has them all. */
const morePeople = (near: Tenant | undefined, text: string) =>
  near === undefined
    ? html`<p class="hint">These are the first ${MOST} people. Type more to narrow it down.</p>`
    : html`<p class="hint">
        These are the first ${MOST} people.
        <a href="${tenantPath(near.tenantId, 'users')}?q=${encodeURIComponent(text)}">Show all matching users</a>
      </p>`

const isVisible = ({ isOperator, tenantIds }: Viewer, tenantId: string) =>
  tenantId !== '' && (isOperator || tenantIds.includes(tenantId))

async function find(
  world: ConsoleWorld,
  viewer: Viewer,
  text: string,
  near: Tenant | undefined,
  paths: ReadonlySet<string>,
): Promise<FoundByKind> {
  const pages = pagesOf(viewer, near, paths).filter(
    ({ label, detail }) => text === '' || isIn(text, label) || isIn(text, detail),
  )
  const [tenants, people] = await Promise.all([
    text === '' && !viewer.isOperator
      ? theirTenants(world, viewer, '')
      : tenantsOf(world, viewer, text),
    text === '' ? [] : peopleOf(world, viewer, near?.tenantId, text),
  ])
  return { pages: pages.slice(0, text === '' ? 20 : MOST), tenants, people }
}

const isIn = (text: string, whole: string) => whole.toLowerCase().includes(text.toLowerCase())

function pagesOf(viewer: Viewer, near: Tenant | undefined, paths: ReadonlySet<string>): Found[] {
  const of = (links: readonly NavigationLink[], detail: string) =>
    links.map(({ label, href }) => ({ label, href, detail }))
  const { isOperator } = viewer
  return [
    ...(near === undefined
      ? []
      : of(tenantLinks(near, undefined, paths, isOperator), near.tenantId)),
    ...(isOperator ? of(operatorLinks(undefined, paths), 'Service') : []),
  ]
}

const foundTenant = ({ tenantId, name }: Pick<Tenant, 'tenantId' | 'name'>): Found => {
  return { label: name, detail: tenantId, href: tenantPath(tenantId) }
}

async function tenantsOf(world: ConsoleWorld, viewer: Viewer, text: string): Promise<Found[]> {
  if (!viewer.isOperator) return theirTenants(world, viewer, text)
  if (text === '') return []
  const { items } = await world.tenants.search({ text }, { limit: MOST })
  return items.map(foundTenant)
}

async function theirTenants({ tenants }: ConsoleWorld, { tenantIds }: Viewer, text: string) {
  const found = await Promise.all(tenantIds.map((tenantId) => tenants.find(tenantId)))
  return found
    .filter((tenant) => tenant !== undefined)
    .filter(({ tenantId, name }) => isIn(text, tenantId) || isIn(text, name))
    .slice(0, MOST)
    .map(foundTenant)
}

/** Of the tenant that one looks from, else of all that one may see. */
async function peopleOf(
  { users }: ConsoleWorld,
  { isOperator, tenantIds }: Viewer,
  near: string | undefined,
  text: string,
): Promise<Found[]> {
  const ofOne = (tenantId: string) => users.search(tenantId, text, MOST)
  const found =
    near !== undefined
      ? await ofOne(near)
      : isOperator
        ? await users.searchAll(text, MOST)
        : (await Promise.all(tenantIds.slice(0, MOST).map(ofOne))).flat().slice(0, MOST)
  return found.map(({ userId, tenantId, name, email }) => ({
    label: name,
    detail: near === undefined ? `${email} · ${tenantId}` : email,
    href: `${tenantPath(tenantId, 'users')}/${userId}`,
  }))
}
