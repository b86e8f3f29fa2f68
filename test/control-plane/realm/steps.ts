/** One person on the way through a sign-in, page by page. */
import { TOTP, Secret } from 'otpauth'
import type { Policies, PolicyName } from '../../../control-plane/policy/policies.ts'
import { newSeed } from '../../../control-plane/accounts/totp.ts'
import { asc, eq } from '../../../control-plane/store/drizzle.ts'
import type { EventName } from '../../../shared/events.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import {
  ACTOR,
  ADA,
  Browser,
  relyingParty,
  type BrowserRequest,
  type TestTenant,
  type World,
} from './realm-world.ts'

export const STEP_MS = 30_000

export function codeAt(seed: string, atMs: number): string {
  return new TOTP({ secret: Secret.fromBase32(seed) }).generate({ timestamp: atMs })
}

/** An app with a seed, as if it had been enrolled a while ago, and the codes on paper. */
export async function enrolApp(world: World, { tenant, ada }: TestTenant, userId = ada.userId) {
  const owner = { tenantId: tenant.tenantId, userId }
  const seed = newSeed()
  const recoveryCodes = await world.store.change(async (change) => {
    await world.factors.addTotp(change, owner, seed, 0)
    return world.factors.renewRecoveryCodes(change, owner)
  })
  const code = (steps = 0) => codeAt(seed, world.clock.nowMs() + steps * STEP_MS)
  return { seed, recoveryCodes, code }
}

export async function setPolicy<Name extends PolicyName>(
  world: World,
  name: Name,
  settings: Partial<Policies[Name]>,
) {
  await world.policies.put('acme', name, settings, ACTOR)
}

/** At the sign-in page, in a browser of its own unless one is given. */
export async function begin(
  world: World,
  tenant: TestTenant,
  parameters: Record<string, string> = {},
  browser = new Browser(world.baseUrl),
) {
  const flow = await (await relyingParty(tenant)).begin(parameters)
  const page = await browser.visit(flow.url)
  const send = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    browser.submit(page.url, fields, headers)
  const sendOnce = (fields: Record<string, string>) =>
    browser.once(page.url, post(fields)).then(async (response) => ({
      response,
      url: response.headers.get('location') ?? '',
      html: await response.text(),
    }))
  const claims = async (callback: string) => {
    const found = (await flow.finish(callback)).claims()
    if (found === undefined) throw new Error('no ID token')
    return found
  }
  return { browser, flow, page, send, sendOnce, claims, password: () => send(ADA) }
}

const post = (fields: Record<string, string>): BrowserRequest => ({
  method: 'POST',
  body: new URLSearchParams(fields),
})

export function isAskingForCode(html: string): boolean {
  return html.includes('name="code"')
}

export function isAskingForPassword(html: string): boolean {
  return html.includes('name="password"')
}

export async function eventsOf(world: World, event: EventName) {
  const rows = await world.store.read
    .select()
    .from(schema.outbox)
    .where(eq(schema.outbox.event, event))
    .orderBy(asc(schema.outbox.sequence))
  return rows.map(({ content }) => content)
}

export async function recordedSignIns(world: World) {
  return world.store.read.select().from(schema.signIns).orderBy(asc(schema.signIns.at))
}
