/** Who is invited once more becomes what they were invited as last. */
import t, { type Test } from 'tap'
import { CONSOLE_PASSWORD, startConsole } from '../../support/console.ts'

const ACME = '/console/tenants/acme/administrators'

async function startInviting(t: Test) {
  const texts: string[] = []
  const send = async ({ text }: { text: string }) => void texts.push(text)
  const world = await startConsole(t, { mailTransport: { send, close: () => undefined } })
  const { services, person, ask } = world
  const { consoleAccess, users, mails } = services
  const ada = await person('acme', 'Ada')
  /** The changes that somebody may make who comes by the newest link. */
  async function comes(email: string) {
    await mails.deliver()
    const link = /\/console\/invitation\?link=([\w-]+)/.exec(texts.at(-1) ?? '')?.[1] ?? ''
    const form = { link, name: 'Bob', password: CONSOLE_PASSWORD }
    const { status } = await ask('/console/invitation', '', { method: 'POST', form })
    t.equal(status, 200)
    const { userId = '' } = (await users.byLogin('console', email)) ?? {}
    return (await consoleAccess.roles.of(userId)).changes
  }
  return { ada, comes }
}

void t.test('as an administrator by mistake, and then to look alone', async (t) => {
  const { ada, comes } = await startInviting(t)
  const email = 'bob@example.test'
  t.equal((await ada.post(ACME, { email })).status, 303)
  t.equal((await ada.post(ACME, { email, read_only: 'on' })).status, 303)
  t.match((await ada.get(ACME)).text, /bob@example\.test.*Viewer/s)
  t.strictSame(await comes(email), [], 'may change nothing')
})

void t.test('to look, and then as an administrator', async (t) => {
  const { ada, comes } = await startInviting(t)
  const email = 'eve@example.test'
  t.equal((await ada.post(ACME, { email, read_only: 'on' })).status, 303)
  t.equal((await ada.post(ACME, { email })).status, 303)
  t.strictSame(await comes(email), ['acme'])
})
