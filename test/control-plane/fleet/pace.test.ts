import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { startControlPlane, until } from '../../support/fleet.ts'
import { connectRaw } from '../../support/raw-gateway.ts'

const WINDOW = LIMITS.fleetWindowMessagesMax

t.test(
  'a gateway gets no more than one window of tenants ahead of what it has dealt with',
  async (t) => {
    const control = await startControlPlane(t)
    for (let count = 0; count < WINDOW + 10; count += 1) control.put(`t${count}`)
    const raw = await connectRaw(t, control.port, { isConsuming: false })
    await raw.wait('tenant', WINDOW)
    // A pong comes after everything that was sent before the ping arrived.
    const ponged = new Promise((resolve) => raw.socket.once('pong', resolve))
    raw.socket.ping()
    await ponged
    t.equal(raw.of('tenant').length, WINDOW)
    t.same(raw.of('synced'), [])

    raw.send({ type: 'consumed', messages: 3 })
    await raw.wait('tenant', WINDOW + 3)
    raw.send({ type: 'consumed', messages: WINDOW })
    await raw.wait('synced')
    t.equal(raw.of('tenant').length, WINDOW + 10)
  },
)

t.test('changes keep to the window as well', async (t) => {
  const control = await startControlPlane(t)
  const raw = await connectRaw(t, control.port, { isConsuming: false })
  await raw.wait('synced')
  for (let count = 0; count < WINDOW * 3; count += 1) control.put(`t${count}`)
  await raw.wait('tenant', WINDOW)
  await control.hub.settled(WINDOW * 3, 20)
  t.equal(raw.of('tenant').length, WINDOW)
  raw.consume()
  await raw.wait('tenant', WINDOW * 3)
})

t.test('a window holds no more than its bytes, and at least one message', async (t) => {
  const control = await startControlPlane(t)
  const big = 'x'.repeat(LIMITS.fleetWindowBytesMax * 0.6)
  const sealed = Array.from({ length: 3 }, (_, at) => `/${at}`)
  for (const id of ['a', 'b']) control.put(id, { sealed, client_id: big })
  const raw = await connectRaw(t, control.port, { isConsuming: false })
  await raw.wait('tenant', 1)
  const ponged = new Promise((resolve) => raw.socket.once('pong', resolve))
  raw.socket.ping()
  await ponged
  t.equal(raw.of('tenant').length, 1)
  raw.send({ type: 'consumed', messages: 1 })
  await raw.wait('tenant', 2)
})

t.test('a revocation passes the tenants that wait', async (t) => {
  const control = await startControlPlane(t)
  for (let count = 0; count < 5_000; count += 1) control.put(`t${count}`)
  const raw = await connectRaw(t, control.port, { isConsuming: false })
  await raw.wait('tenant', WINDOW)
  control.revoke('t4999', { all: 1_700_000_000 })
  await raw.wait('revoked')
  t.equal(raw.of('tenant').length, WINDOW)
  t.match(raw.of('revoked'), [{ tenant_id: 't4999', revoked: { all: 1_700_000_000 } }])
})

t.test('a change passes the rest of a full synchronisation', async (t) => {
  const control = await startControlPlane(t)
  for (let count = 0; count < 500; count += 1) control.put(`t${count}`)
  const raw = await connectRaw(t, control.port, { isConsuming: false })
  await raw.wait('tenant', WINDOW)
  const revision = control.put('t499', { name: 'New' })
  raw.consume()
  await raw.wait('synced')
  const sent = raw.of('tenant')
  const newAt = sent.findIndex((message) => message.revision === revision)
  t.ok(newAt >= WINDOW && newAt < 2 * WINDOW + 2, `at ${newAt} of ${sent.length}`)
  t.match(raw.of('synced').at(-1), { revision })
})

t.test('a burst of changes becomes the newest per tenant', async (t) => {
  const control = await startControlPlane(t)
  for (let count = 0; count < WINDOW; count += 1) control.put(`t${count}`)
  const raw = await connectRaw(t, control.port, { isConsuming: false })
  await raw.wait('tenant', WINDOW)
  let newest = 0
  for (let count = 0; count < 1_000; count += 1) newest = control.put('busy', { name: `${count}` })
  const calm = control.put('calm')
  await control.hub.settled(calm, 50)
  raw.send({ type: 'consumed', messages: WINDOW })
  await until(() => raw.of('synced').some(({ revision }) => revision === calm))
  const sent = raw.of('tenant').slice(WINDOW)
  t.match(sent, [
    { tenant_id: 'busy', revision: newest },
    { tenant_id: 'calm', revision: calm },
  ])
  t.equal(sent.length, 2)
})

t.test('a gateway that reads nothing is closed before its messages fill the memory', async (t) => {
  const control = await startControlPlane(t)
  const raw = await connectRaw(t, control.port, { id: 'stuck' })
  await raw.wait('synced')
  raw.socket.pause()
  const revoked = { all: 0, subjects: {}, sids: { ['s'.repeat(1024 * 1024)]: 1 } }
  const count = LIMITS.fleetUnsentBytesMax / (1024 * 1024)
  for (let sent = 1; sent < count; sent += 1) control.hub.revoked('ada', revoked)
  t.equal(control.hub.gateways()[0]?.connected, true)
  // The kernel has taken some of it.
  for (let extra = 0; extra < 20; extra += 1) control.hub.revoked('ada', revoked)
  await until(() => control.hub.gateways()[0]?.connected === false)
})

t.test('a whole state of revocations is split into messages that each fit', async (t) => {
  const control = await startControlPlane(t)
  const count = LIMITS.revokedEntriesPerMessageMax + 1
  const sids = Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, 5]))
  const subjects = Object.fromEntries(Array.from({ length: count }, (_, at) => [`u${at}`, 6]))
  control.source.revoke('ada', { all: 7, sids, subjects })
  const raw = await connectRaw(t, control.port)
  await raw.wait('revoked_synced')
  const parts = raw.of('revoked').map(({ revoked }) => revoked)
  for (const { sids, subjects } of parts)
    t.ok(
      Object.keys(sids).length + Object.keys(subjects).length <= LIMITS.revokedEntriesPerMessageMax,
    )
  t.same(Object.assign({}, ...parts.map((part) => part.sids)), sids)
  t.same(Object.assign({}, ...parts.map((part) => part.subjects)), subjects)
  t.equal(Math.max(...parts.map((part) => part.all)), 7)
})
