/** Nobody's mails wait for those of another tenant, and no link for what only tells of something. */
import { pino } from 'pino'
import t from 'tap'
import { createMails, type Mail } from '../../../control-plane/mail/mails.ts'
import { tenantsWithDueMails } from '../../../control-plane/store/queries/mails.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock, startServices } from '../../support/control-plane.ts'
import { until } from '../../support/fleet.ts'

const HOUR_MS = 3_600_000

type Scope = Parameters<typeof startServices>[0]

async function start(t: Scope, send: (mail: Mail) => Promise<void> = async () => {}) {
  const clock = movableClock()
  const { store, vault } = await startServices(t, { clock })
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  /** To whom, in the order in which they began. */
  const begun: string[] = []
  const transport = {
    send: (mail: Mail) => {
      begun.push(mail.to)
      return send(mail)
    },
    close: () => undefined,
  }
  const make = () => createMails({ store, vault, clock, log, transport })
  const mails = make()
  const queue = (tenantId: string, to: string, expiresAt?: number) =>
    store.change((change) =>
      mails.queue(
        change,
        tenantId,
        { to, subject: '', text: '' },
        expiresAt === undefined ? undefined : { expiresAt },
      ),
    )
  const left = async () => (await store.read.select().from(schema.mails)).length
  return { clock, store, lines, begun, mails, queue, left, make }
}

void t.test('who floods their own tenant costs each other tenant one turn', async (t) => {
  const { clock, begun, mails, queue, left } = await start(t)
  for (let count = 0; count < 50; count++) await queue('bolt', 'flood')
  clock.advance(HOUR_MS)
  await queue('acme', 'ada')
  await queue('cork', 'carol')
  clock.advance(1)
  await queue('cork', 'cato')
  await mails.deliver()
  t.same(begun.slice(0, 5), ['ada', 'flood', 'carol', 'flood', 'cato'])
  t.equal(begun.length, 53)
  t.equal(await left(), 0)
})

void t.test('what somebody waits for goes out before what tells of something', async (t) => {
  const { clock, begun, mails, queue } = await start(t)
  for (let count = 0; count < 10; count++) await queue('acme', 'notice')
  clock.advance(1)
  await queue('acme', 'link', clock.nowMs() + HOUR_MS)
  await mails.deliver()
  t.equal(begun[0], 'link')
  t.equal(begun.length, 11)
})

void t.test('a mail that goes on and on holds up nobody else’s', async (t) => {
  const held = Promise.withResolvers<void>()
  let underWay = 0
  let most = 0
  const { begun, mails, queue, left } = await start(t, async ({ to }) => {
    most = Math.max(most, ++underWay)
    if (to === 'slow') await held.promise
    underWay--
  })
  for (let count = 0; count < 10; count++) await queue('acme', 'slow')
  const delivered = mails.deliver()
  await until(() => begun.length === LIMITS.mailSendsPerTenantMax)
  for (let count = 0; count < 5; count++) {
    await queue('bolt', 'bob')
    void mails.deliver()
  }
  await until(() => begun.filter((to) => to === 'bob').length === 5)
  t.equal(begun.filter((to) => to === 'slow').length, LIMITS.mailSendsPerTenantMax)
  held.resolve()
  await delivered
  t.equal(await left(), 0)
  t.ok(most <= LIMITS.mailSendsMax)
})

void t.test('no link goes out that is dead, or as good as dead', async (t) => {
  const { clock, begun, lines, mails, queue, left } = await start(t)
  await queue('acme', 'dead', clock.nowMs() + HOUR_MS)
  await queue('acme', 'alive', clock.nowMs() + 2 * HOUR_MS)
  clock.advance(HOUR_MS - 1000)
  await mails.deliver()
  t.same(begun, ['alive'])
  t.equal(await left(), 0)
  t.match(lines.join(''), /mail given up: its link is too old/)
})

void t.test('nor by a server that was away for as long', async (t) => {
  let tries = 0
  const { clock, mails, queue, left } = await start(t, () => {
    tries++
    return Promise.reject(new Error('connect ECONNREFUSED'))
  })
  await queue('acme', 'ada', clock.nowMs() + HOUR_MS)
  for (const minutes of [0, 1, 5, 15, 60]) {
    clock.advance(minutes * 60_000)
    await mails.deliver()
  }
  t.equal(tries, 4)
  t.equal(await left(), 0)
})

void t.test('a mail that is being sent is sent by nobody else meanwhile', async (t) => {
  const held = Promise.withResolvers<void>()
  const { clock, begun, mails, queue, make } = await start(t, () => held.promise)
  await queue('acme', 'ada')
  const delivered = mails.deliver()
  await until(() => begun.length === 1)
  clock.advance(LIMITS.mailSendMsMax)
  await make().deliver()
  let isClosed = false
  const closed = mails.close().then(() => (isClosed = true))
  await queue('acme', 'bob')
  t.notOk(isClosed, 'a stop waits for it')
  held.resolve()
  await Promise.all([delivered, closed])
  t.same(begun, ['ada'])
})

void t.test('who asks while a mail server takes its time waits with everybody else', async (t) => {
  const held = Promise.withResolvers<void>()
  const { begun, mails, queue } = await start(t, () => held.promise)
  await queue('acme', 'ada')
  const first = mails.deliver()
  await until(() => begun.length === 1)
  for (let count = 0; count < 3; count++) t.equal(mails.deliver(), first, 'nothing of its own')
  await queue('acme', 'bob')
  t.equal(mails.deliver(), first)
  await until(() => begun.length === 2)
  held.resolve()
  await first
})

void t.test('what is not due is no work for whoever looks for what is', async (t) => {
  const { clock, store, queue } = await start(t)
  const later = Array.from({ length: 200 }, (_, at) => `later-${at}`)
  for (const tenantId of later) await queue(tenantId, 'somebody')
  await store.change(({ queries, nowMs }) =>
    queries.update(schema.mails).set({ nextAt: nowMs + HOUR_MS }),
  )
  await queue('acme', 'ada')
  await queue('acme', 'bob')
  t.same(await tenantsWithDueMails(store.read, clock.nowMs()), ['acme'])
  clock.advance(HOUR_MS)
  t.same(await tenantsWithDueMails(store.read, clock.nowMs()), ['acme', ...later].sort())
})

void t.test('very many mails of one tenant hide those of no other', async (t) => {
  const { clock, store, mails, queue } = await start(t)
  await store.change(async (change) => {
    for (let count = 0; count < 1_200; count++)
      await mails.queue(change, 'bolt', { to: 'flood', subject: '', text: '' })
  })
  clock.advance(1)
  await queue('acme', 'ada')
  t.same(await tenantsWithDueMails(store.read, clock.nowMs()), ['acme', 'bolt'])
})
