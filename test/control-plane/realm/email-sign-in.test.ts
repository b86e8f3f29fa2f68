/** Sign-in by email: in the browser that has asked, once, and through everything that a password goes through. */
import t from 'tap'
import { movableClock } from '../../support/control-plane.ts'
import { untilFound } from '../../support/fleet.ts'
import { Browser, startWorld, type TestTenant, type World } from './realm-world.ts'
import { begin, setPolicy } from './steps.ts'

export const linkIn = (text: string) => /https?:\/\/\S+/.exec(text)?.[0] ?? ''
export const codeIn = (text: string) => /^\d{4} \d{4}$/m.exec(text)?.[0] ?? ''

async function acmeByMail(t: Parameters<typeof startWorld>[0], options = {}) {
  const world = await startWorld(t, options)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'password', { email_sign_in: true })
  return { world, acme }
}

async function ask(world: World, acme: TestTenant, username = 'ada@example.test') {
  const visit = await begin(world, acme)
  const before = world.sentMails.length
  const page = await visit.send({ username, by_email: '1' })
  const mail = () => untilFound(() => world.sentMails[before])
  const post = (fields: Record<string, string>) => visit.browser.submit(page.url, fields)
  return { ...visit, asked: page, mail, post }
}

t.test('asked for, mailed, opened, pressed: signed in, and the token says how', async (t) => {
  const { world, acme } = await acmeByMail(t)
  const visit = await ask(world, acme)
  t.equal(visit.asked.response.status, 200)
  t.match(visit.asked.html, /Check your email/)
  const mail = await visit.mail()
  t.equal(mail.to, 'ada@example.test')
  const link = linkIn(mail.text)
  t.ok(link.startsWith(`${acme.issuer}/sign-in/`))
  const opened = await visit.browser.visit(link)
  t.match(opened.html, /You opened the link/)
  const ticket = new URL(link).searchParams.get('ticket') ?? ''
  const done = await visit.post({ ticket })
  t.ok(done.url.startsWith(acme.redirectUri))
  const claims = await visit.claims(done.url)
  t.same(claims['amr'], ['email'])
  t.equal(claims['acr'], 'aal1')
  t.notMatch(world.logged.join(''), new RegExp(ticket))
})
