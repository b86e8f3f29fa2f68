/** What somebody has made in a session of the console that was taken away from them lets nobody in. */
import t, { type Test } from 'tap'
import { CONSOLE_REALM } from '../../../control-plane/store/reserved.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { CONSOLE_PASSWORD, startConsole, type Person } from '../../support/console.ts'

const ACME = '/console/tenants/acme/administrators'
const LAPTOP = { machine: 'laptop', application: 'shop', address: '192.0.2.7' }
const POLL = { address: '192.0.2.7', requestId: 'poll' }

async function start(t: Test) {
  const texts: string[] = []
  const send = async ({ text }: { text: string }) => void texts.push(text)
  const world = await startConsole(t, { mailTransport: { send, close: () => undefined } })
  const { services, person, signedIn, ask } = world
  const { deviceCodes } = services.consoleAccess
  let count = 0

  /** An invitation and a tool that was allowed a key, and what becomes of them later. */
  async function leaves(someone: Person) {
    const email = `m${++count}@example.test`
    t.equal((await someone.post(ACME, { email })).status, 303)
    await services.mails.deliver()
    const link = /\/console\/invitation\?link=([\w-]+)/.exec(texts.at(-1) ?? '')?.[1] ?? ''
    const { deviceCode, userCode } = await deviceCodes.open(LAPTOP)
    const allowed = { code: userCode, tenant_id: 'acme' }
    t.equal((await someone.post('/console/device/allow', allowed)).status, 303)
    return async () => {
      const form = { link, name: 'Mallory', password: CONSOLE_PASSWORD }
      const accepted = await ask('/console/invitation', '', { method: 'POST', form })
      const key = await deviceCodes.redeem(deviceCode, POLL).then(
        () => 'handed out',
        (error: unknown) => (error as { code: string }).code,
      )
      return [accepted.status, key]
    }
  }
  return { ...world, person, signedIn, leaves }
}

const GONE = [410, 'access_denied']
const THERE = [200, 'handed out']

t.test('a session that is ended takes along what was made in it, and no other does', async (t) => {
  const { services, person, signedIn, leaves } = await start(t)
  const ada = await person('acme', 'Ada')
  const thief = await signedIn(ada.userId)
  const [ofAda, ofThief] = [await leaves(ada), await leaves(thief)]
  await services.revocations.end(CONSOLE_REALM, thief.sid, ACTOR, 'ended_by_user')
  t.strictSame(await ofThief(), GONE)
  t.strictSame(await ofAda(), THERE)
})

t.test('who is signed out everywhere has left nothing, who signs out goes on', async (t) => {
  const { services, person, signedIn, leaves } = await start(t)
  const ada = await person('acme', 'Ada')
  const own = await leaves(ada)
  t.equal((await ada.post('/console/sign-out')).status, 303)
  t.strictSame(await own(), THERE)
  const stolen = await leaves(await signedIn(ada.userId))
  await services.consoleAccess.persons.signOut(ada.userId, ACTOR)
  t.strictSame(await stolen(), GONE)
})
