/** Somebody who makes an account, in a browser of their own. */
import { untilFound } from '../../support/fleet.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Policies } from '../../../control-plane/policy/policies.ts'
import {
  Browser,
  startWorld,
  type TestTenant,
  type World,
  type WorldOptions,
} from './realm-world.ts'
import { codeIn } from './mail-visits.ts'
import { begin, setPolicy } from './steps.ts'

export const GRACE = 'grace@company.example'
export const NEW_PASSWORD = 'nine purple lanterns float'
export const DETAILS = { name: 'Grace Hopper', password: NEW_PASSWORD, repeated: NEW_PASSWORD }

export async function startSignUp(
  t: Parameters<typeof startWorld>[0],
  policy: Partial<Policies['password']> = { sign_up: 'open' },
  options: WorldOptions = {},
) {
  const world = await startWorld(t, options)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'password', policy)
  return { world, acme }
}

export async function askForAccount(
  world: World,
  acme: TestTenant,
  email = GRACE,
  { browser = new Browser(world.baseUrl) } = {},
) {
  const visit = await begin(world, acme, {}, browser)
  const before = world.sentMails.length
  const url = `${visit.page.url.split('?')[0]}/sign-up`
  const post = (fields: Record<string, string>) => browser.submit(url, fields)
  const asked = await post({ email })
  const mail = () => untilFound(() => world.sentMails[before])
  return {
    ...visit,
    ...{ url, post, asked, mail },
    looks: () => browser.visit(url),
    /** As far as the page that asks who they are. */
    confirm: async () => post({ code: codeIn((await mail()).text) }),
  }
}

/** All the way; what comes of it is in the answer. */
export async function signUp(world: World, acme: TestTenant, email = GRACE) {
  const visit = await askForAccount(world, acme, email)
  const confirmed = await visit.confirm()
  const done = await visit.post(DETAILS)
  return { ...visit, confirmed, done }
}

export const usersOf = async (world: World) =>
  (await world.store.read.select().from(schema.users)).filter(({ tenantId }) => tenantId === 'acme')
export const waitingOf = (world: World) => world.store.read.select().from(schema.signUps)
export const auditedOf = async (world: World, action: string) =>
  (await world.auditTrail.list({ limit: 200, cursor: undefined })).items.filter(
    (entry) => entry.action === action,
  )
