/** Self sign-up beside providers: whose domain a connection has makes no account here. */
import t, { type Test } from 'tap'
import { ACTOR } from '../realm-world.ts'
import { DETAILS, GRACE as ADDRESS, waitingOf } from '../sign-up-visits.ts'
import { codeIn } from '../mail-visits.ts'
import { untilFound } from '../../../support/fleet.ts'
import { begin, setPolicy } from '../steps.ts'
import { atProvider, GRACE, startConnected, startNames, usersOf } from './connected.ts'

async function start(t: Test) {
  const names = startNames()
  const connected = await startConnected(t, { resolveTxt: names.resolveTxt })
  const { world, tenant, connection } = connected
  await setPolicy(world, 'password', { sign_up: 'approval' })
  const ask = async () => {
    const visit = await begin(world, tenant)
    const url = `${visit.page.url.split('?')[0]}/sign-up`
    const before = world.sentMails.length
    const sent = await visit.browser.once(url, {
      method: 'POST',
      body: new URLSearchParams({ email: ADDRESS }),
    })
    const post = (fields: Record<string, string>) => visit.browser.submit(url, fields)
    const confirm = async () =>
      post({ code: codeIn((await untilFound(() => world.sentMails[before])).text) })
    return { ...visit, sent, post, confirm }
  }
  return { ...connected, ask, prove: () => names.prove(world, connection) }
}

t.test('an address of a domain that a connection has leads to its provider', async (t) => {
  const { world, peer, ask, prove } = await start(t)
  await prove()
  const { page, sent } = await ask()
  t.match(page.html, /Create an account/)
  t.equal(sent.status, 303)
  t.ok(sent.headers.get('location')?.startsWith(`${peer.issuer}/authorize?`))
  t.same(world.sentMails, [])
})

t.test('while the connection of a domain rests, nobody makes an account with it', async (t) => {
  const { world, connection, ask, prove } = await start(t)
  const before = await ask()
  await before.confirm()
  await prove()
  await world.connections.deactivate('acme', connection.connectionId, ACTOR)
  t.equal((await before.post(DETAILS)).response.status, 422)
  t.same(await waitingOf(world), [])
  const mails = world.sentMails.length
  const { sent } = await ask()
  t.equal(sent.status, 422)
  t.equal(world.sentMails.length, mails)
})

t.test('a domain that is connected meanwhile: neither finished nor approved', async (t) => {
  const { world, ask, prove } = await start(t)
  const first = await ask()
  await first.confirm()
  t.match((await first.post(DETAILS)).html, /Waiting for approval/)
  const [waiting] = await waitingOf(world)
  await prove()
  await t.rejects(world.signUps.approve('acme', waiting?.signUpId ?? '', ACTOR), {
    code: 'sign_up_closed',
  })
  t.equal((await usersOf(world)).filter(({ email }) => email === ADDRESS).length, 0)
  await world.signUps.refuse('acme', waiting?.signUpId ?? '', ACTOR)
  t.same(await waitingOf(world), [])
})

t.test(
  'who comes by the provider meanwhile has the account, and nobody waits for it',
  async (t) => {
    const { world, peer, tenant, connection, ask } = await start(t)
    const first = await ask()
    await first.confirm()
    await first.post(DETAILS)
    const person = await atProvider(world, tenant, connection)
    const back = await person.browser.visit(peer.signIn(person.to, GRACE))
    t.match(await person.claims(back.url), { email: ADDRESS })
    t.same(await waitingOf(world), [])
    const tries = await (await begin(world, tenant)).send({ ...DETAILS, username: ADDRESS })
    t.equal(tries.response.status, 422)
  },
)
