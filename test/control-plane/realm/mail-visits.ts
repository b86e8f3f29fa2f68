/** Somebody who asks for an email to sign in with, in a browser of their own. */
import { schema } from '../../../control-plane/store/schema.ts'
import { untilFound } from '../../support/fleet.ts'
import {
  Browser,
  startWorld,
  type TestTenant,
  type World,
  type WorldOptions,
} from './realm-world.ts'
import { begin, setPolicy } from './steps.ts'

export const linkIn = (text: string) => /https?:\/\/\S+/.exec(text)?.[0] ?? ''
export const codeIn = (text: string) => /^\d{4} \d{4}$/m.exec(text)?.[0] ?? ''
export const ticketIn = (text: string) => new URL(linkIn(text)).searchParams.get('ticket') ?? ''

/** A code that is none. */
export const otherThan = (code: string) =>
  String((Number(code.replace(' ', '')) + 1) % 100_000_000).padStart(8, '0')

export async function startByMail(t: Parameters<typeof startWorld>[0], options: WorldOptions = {}) {
  const world = await startWorld(t, options)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'password', { email_sign_in: true })
  return { world, acme }
}

export async function askForMail(
  world: World,
  acme: TestTenant,
  username = 'ada@example.test',
  { browser = new Browser(world.baseUrl) } = {},
) {
  const visit = await begin(world, acme, {}, browser)
  const before = world.sentMails.length
  const asked = await visit.send({ username, by_email: '1' })
  const post = (fields: Record<string, string>) => browser.submit(asked.url, fields)
  return {
    ...visit,
    asked,
    mail: () => untilFound(() => world.sentMails[before]),
    post,
    postOnce: (fields: Record<string, string>) =>
      browser.once(asked.url, { method: 'POST', body: new URLSearchParams(fields) }),
    again: () => post({ again: '1' }),
    looks: () => browser.visit(asked.url),
  }
}

export const ticketsOf = (world: World) => world.store.read.select().from(schema.accountTickets)
