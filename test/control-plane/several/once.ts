/** What is good for one use is used once, however many bring it to however many control planes. */
import t from 'tap'
import { createRealmRecords } from '../../../control-plane/realm/records.ts'
import { CONSOLE_REALM } from '../../../control-plane/store/reserved.ts'
import { enrolJws, makeDeviceKey } from '../../support/devices.ts'
import { giveRole } from '../../support/console.ts'
import { ACTOR, tenantNamed } from '../../support/control-plane.ts'
import { codeIn, exchange } from '../realm/realm-world.ts'
import { begin, enrolApp, recordedSignIns } from '../realm/steps.ts'
import { atOnce, fulfilledOf, startTwo, startTwoRealms } from './nodes.ts'

const AT_ONCE = 100
const isTrue = (value: unknown) => value === true

t.test('of a hundred who redeem one code at most one gets tokens, and they are void', async (t) => {
  const { here, there } = await startTwoRealms(t)
  const acme = await here.tenant('acme')
  const person = await begin(here, acme)
  const code = codeIn((await person.password()).url)
  const code_verifier = person.flow.verifier
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, () => exchange(acme, { code, code_verifier })),
  )
  t.ok(answers.filter(({ status }) => status === 200).length <= 1)
  t.ok(answers.every(({ status }) => status === 200 || status === 400))
  const { items } = await there.sessions.list('acme', { limit: 10 })
  t.ok(items.every(({ endedAt }) => endedAt !== null))

  const onCodeReused = () => Promise.resolve()
  const codesOf = (node: typeof here) =>
    createRealmRecords({ ...node, tenantId: 'acme', onCodeReused }).adapter('AuthorizationCode')
  const both = [codesOf(here), codesOf(there)] as const
  await both[0].upsert('code', { jti: 'code' }, 60)
  const consumed = await atOnce(both, AT_ONCE, async (codes) => codes.consume('code'))
  t.equal(fulfilledOf(consumed).length, 1)
})

t.test('guesses at a second factor over two control planes are those at one', async (t) => {
  const { here } = await startTwoRealms(t)
  const acme = await here.tenant('acme')
  await enrolApp(here, acme)
  const people = await Promise.all(Array.from({ length: 30 }, () => begin(here, acme)))
  for (const person of people) await person.password()
  await Promise.all(
    people.map((person, number) => person.sendOnce({ code: `00000${number % 10}` })),
  )
  const failures = (await recordedSignIns(here)).filter(({ isFailure }) => isFailure)
  t.equal(failures.length, (await here.policies.of('acme')).lockout.user_failures)
})

t.test('of a hundred who bring one secret, as many get in as it is good for', async (t) => {
  const { here, there } = await startTwo(t)
  const both = [here, there] as const
  await here.consoleAccess.ensureRealm()
  await here.tenants.create(tenantNamed('acme'), ACTOR)
  const kim = { username: 'kim', email: 'kim@acme.test', name: 'Kim', password: '' }
  const { userId } = await here.users.create('acme', kim, ACTOR)

  const own = { tenantId: 'acme', userId, purpose: 'reset' } as const
  const link = await here.store.change((change) => here.tickets.issue(change, own))
  const spent = await atOnce(both, AT_ONCE, (node) =>
    node.store.changeOf('acme', (change) =>
      node.tickets.spend(change, 'acme', 'reset', link?.secret ?? ''),
    ),
  )
  t.equal(fulfilledOf(spent).filter((ticket) => ticket !== undefined).length, 1, 'a link in a mail')

  const { url } = await here.consoleAccess.links.make(false, ACTOR)
  const secret = new URL(url).searchParams.get('link') ?? ''
  const operators = await atOnce(both, AT_ONCE, (node, number) =>
    node.consoleAccess.links.redeem(
      secret,
      { email: `${number}@acme.test`, name: 'Kim', password: 'a long walk along the wall' },
      'request',
    ),
  )
  t.equal(fulfilledOf(operators).length, 1, 'a link for the first operator')

  const colleague = await here.users.create(CONSOLE_REALM, kim, ACTOR)
  await giveRole(here, colleague.userId, 'acme')
  const tool = { machine: 'm', application: '', address: '192.0.2.1' }
  const { deviceCode, userCode } = await here.consoleAccess.deviceCodes.open(tool)
  const allowed = { tenantId: 'acme', handsSecret: false }
  const by = { userId: colleague.userId, sid: 'sid' }
  await there.consoleAccess.deviceCodes.allow(userCode, allowed, by, ACTOR)
  const asked = { address: '192.0.2.1', requestId: 'request' }
  const handedOut = await atOnce(both, AT_ONCE, (node) =>
    node.consoleAccess.deviceCodes.redeem(deviceCode, asked),
  )
  t.equal(fulfilledOf(handedOut).length, 1, 'a code of a tool')

  const claimed = await atOnce(both, AT_ONCE, ({ consoleAccess }) =>
    consoleAccess.spentForms.claim('form', 'content'),
  )
  t.equal(fulfilledOf(claimed).filter((known) => known === undefined).length, 1, 'a form')

  const uses = { platform: 'linux', uses: 3, expiresIn: 3600 } as const
  const { ticket } = await here.deviceTickets.make('acme', uses, ACTOR)
  const enrolled = await atOnce(both, AT_ONCE, ({ enrolledDevices }) =>
    enrolledDevices.enroll(ticket, enrolJws(makeDeviceKey()), asked),
  )
  t.equal(fulfilledOf(enrolled).length, 3, 'a ticket of devices')
})

t.test('a code of a second factor is taken once', async (t) => {
  const { here, there } = await startTwoRealms(t)
  const acme = await here.tenant('acme')
  const app = await enrolApp(here, acme)
  const owner = { tenantId: 'acme', userId: acme.ada.userId }
  for (const typed of [app.code(), app.recoveryCodes[3] ?? '']) {
    const taken = await atOnce([here, there], AT_ONCE, async (node) => {
      const claim = await node.factors.claimOfCode(owner, typed, node.clock.nowMs())
      return node.store.changeOf('acme', async (change) => (await claim?.take(change)) ?? false)
    })
    t.equal(fulfilledOf(taken).filter(isTrue).length, 1)
  }
})
