import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { createDueQueue, type Wanted } from '../../../control-plane/webhooks/due-queue.ts'
import { createPaces } from '../../../control-plane/webhooks/pace.ts'

const NOW = 1000
const countOf = (chosen: readonly Wanted[]) => chosen.reduce((sum, { limit }) => sum + limit, 0)
const limitOf = (chosen: readonly Wanted[], webhookId: string) =>
  chosen.find((wanted) => wanted.webhookId === webhookId)?.limit ?? 0

/** Has been met, and is as good or as bad as `isDelivered` says. */
function met(webhookId: string, isDelivered: boolean, paces = createPaces()) {
  for (let times = 0; times < 20; times++) paces.learn(webhookId, isDelivered, 1)
  return paces
}

void t.test('nothing is chosen before it is due', async (t) => {
  const queue = createDueQueue(createPaces())
  queue.note('w', 'acme', NOW + 1)
  t.strictSame(queue.choose(NOW), [])
  t.equal(queue.nextMs(), NOW + 1)
  t.equal(countOf(queue.choose(NOW + 1)), 4)
})

void t.test('who answers well gets more at a time, who fails gets little', async (t) => {
  const paces = met('bad', false, met('good', true))
  const queue = createDueQueue(paces)
  queue.note('good', 'acme', 0)
  queue.note('bad', 'other', 0)
  const chosen = queue.choose(NOW)
  t.equal(limitOf(chosen, 'good'), LIMITS.webhookSendsPerWebhookMax)
  t.equal(limitOf(chosen, 'bad'), 2)
  t.strictSame(queue.choose(NOW), [], 'no more of it while that is under way')
})

void t.test('however many receivers are broken, there is room for the others', async (t) => {
  const paces = createPaces()
  const queue = createDueQueue(paces)
  const broken = LIMITS.webhookSlowSendsMax
  for (let at = 0; at < broken; at++) {
    met(`bad-${at}`, false, paces)
    queue.note(`bad-${at}`, `tenant-${at}`, 0)
  }
  t.equal(countOf(queue.choose(NOW)), LIMITS.webhookSlowSendsMax, 'their share, and no more')
  met('good', true, paces)
  queue.note('good', 'acme', 0)
  t.equal(limitOf(queue.choose(NOW), 'good'), LIMITS.webhookSendsPerWebhookMax)
})

void t.test('a tenant with much to send does not take the room of the others', async (t) => {
  const paces = createPaces()
  const queue = createDueQueue(paces)
  for (let at = 0; at < 100; at++) queue.note(`many-${at}`, 'acme', 0)
  queue.note('one', 'other', 0)
  const chosen = queue.choose(NOW)
  t.equal(limitOf(chosen, 'one'), 4)
  t.equal(countOf(chosen) - 4, LIMITS.webhookSendsPerTenantMax)
})

void t.test('when there is not room for all, each tenant has its turn', async (t) => {
  const queue = createDueQueue(createPaces())
  const tenants = LIMITS.webhookSendsMax
  for (let at = 0; at < tenants + 10; at++) queue.note(`w-${at}`, `tenant-${at}`, 0)
  const first = queue.choose(NOW)
  t.equal(countOf(first), LIMITS.webhookSendsMax)
  t.ok(first.every(({ limit }) => limit === 1))
  for (const { webhookId } of first) queue.release(webhookId, 1)
  const second = queue.choose(NOW)
  for (let at = tenants; at < tenants + 10; at++)
    t.equal(limitOf(second, `w-${at}`), 1, 'who was left out comes first')
})

void t.test('what is noted while the store is being looked at is not forgotten', async (t) => {
  const queue = createDueQueue(createPaces())
  queue.note('w', 'acme', 0)
  const [wanted] = queue.choose(NOW)
  queue.note('w', 'acme', NOW) // made since then
  queue.looked('w', undefined)
  queue.release('w', wanted!.limit)
  t.equal(countOf(queue.choose(NOW)), 4)
})

void t.test('whoever has nothing left is forgotten', async (t) => {
  const queue = createDueQueue(createPaces())
  queue.note('w', 'acme', 0)
  const [wanted] = queue.choose(NOW)
  queue.looked('w', undefined)
  queue.release('w', wanted!.limit)
  t.equal(queue.nextMs(), undefined)
  t.equal(queue.underWay, 0)
})
