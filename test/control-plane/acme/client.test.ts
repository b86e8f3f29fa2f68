/** The protocol against a real authority, which refuses a third of all good nonces. */
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { createAcmeClient, thumbprintOf } from '../../../control-plane/acme/client.ts'
import { AcmeProblem } from '../../../control-plane/acme/problem.ts'
import { noTracing } from '../../../control-plane/tracing/tracing.ts'
import { certificateRequest } from '../../../control-plane/acme/csr.ts'
import { NO_PEBBLE, startPebble } from '../../support/pebble.ts'
import { listening } from '../../support/wire.ts'

const FOR_EVER = Infinity
const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

async function answering(t: Test, thumbprint: () => string) {
  const server = createServer((request, response) => {
    const token = /^\/\.well-known\/acme-challenge\/([\w-]+)$/.exec(request.url ?? '')?.[1]
    response.end(`${token}.${thumbprint()}`)
  })
  t.teardown(() => server.close())
  return listening(server)
}

function clientOf(
  t: Test,
  pebble: { directory: string; ca: string },
  key = newKey(),
  externalAccount?: { keyId: string; hmacKey: string },
) {
  const client = createAcmeClient({
    ...pebble,
    key,
    externalAccount,
    email: 'ops@example.com',
    profile: null,
    nowMs: () => Date.now(),
    signal: new AbortController().signal,
  })
  t.teardown(() => client.close())
  return client
}

async function until<T extends { status: string }>(ask: () => Promise<T>, status: string) {
  for (;;) {
    const one = await ask()
    if (one.status === status || one.status === 'invalid') return one
  }
}

void t.test('an order from the account to the certificate', { skip: NO_PEBBLE }, async (t) => {
  const key = newKey()
  const thumbprint = await thumbprintOf(key)
  const httpPort = await answering(t, () => thumbprint)
  const pebble = await startPebble(t, { httpPort })
  const client = clientOf(t, pebble, key)
  const account = await client.account()
  t.equal(await clientOf(t, pebble, key).account(), account, 'the key is the account')
  t.not(await clientOf(t, pebble).account(), account)

  const { url, order } = await client.newOrder('app.example.test', null, FOR_EVER)
  t.match(order, { status: 'pending', identifiers: [{ type: 'dns', value: 'app.example.test' }] })
  await client.newOrder('other.example.test', null, FOR_EVER)
  for (let n = 0; n < 4; n++) await client.newOrder(`n${n}.example.test`, null, FOR_EVER)
  t.equal(
    await client.orderUnderWay('app.example.test', Date.now()),
    url,
    'over several pages of orders',
  )
  t.equal(await client.orderUnderWay('never.example.test', Date.now()), undefined)

  const [at = ''] = order.authorizations
  const { challenges } = await client.authorization(at)
  await client.challenge(challenges.find(({ type }) => type === 'http-01')?.url ?? '')
  t.match(await until(() => client.authorization(at), 'valid'), { status: 'valid' })
  t.match(await until(() => client.order(url), 'ready'), { status: 'ready' })

  const certificateKey = newKey()
  await client.finalize(order.finalize, certificateRequest('app.example.test', certificateKey))
  const done = await until(() => client.order(url), 'valid')
  const pem = await client.certificate(done.certificate ?? '')
  const leaf = new X509Certificate(pem)
  t.ok(
    leaf.checkPrivateKey(createPrivateKey(certificateKey.export({ format: 'pem', type: 'pkcs8' }))),
  )
  t.equal(leaf.checkHost('app.example.test'), 'app.example.test')
  t.equal(pem.match(/BEGIN CERTIFICATE/g)?.length, 2, 'with its chain')
})

void t.test('a wrong answer is invalid, and says why', { skip: NO_PEBBLE }, async (t) => {
  const pebble = await startPebble(t, { httpPort: await answering(t, () => 'somebody-else') })
  const client = clientOf(t, pebble)
  const { order } = await client.newOrder('app.example.test', null, FOR_EVER)
  const [at = ''] = order.authorizations
  const { challenges } = await client.authorization(at)
  await client.challenge(challenges.find(({ type }) => type === 'http-01')?.url ?? '')
  const { status, challenges: after } = await until(() => client.authorization(at), 'valid')
  t.equal(status, 'invalid')
  t.match(after.find(({ type }) => type === 'http-01')?.error, {
    type: 'urn:ietf:params:acme:error:unauthorized',
    detail: String,
  })
})

void t.test('an account that is bound to one outside', { skip: NO_PEBBLE }, async (t) => {
  const hmacKey = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W'
  const externalAccounts = { 'kid-1': hmacKey }
  const pebble = await startPebble(t, { httpPort: 1, externalAccounts })
  await t.rejects(clientOf(t, pebble).account(), { name: 'AcmeProblem' })
  const wrong = clientOf(t, pebble, newKey(), { keyId: 'kid-1', hmacKey: 'AAAA' })
  await t.rejects(wrong.account(), { name: 'AcmeProblem' })
  const key = newKey()
  const account = await clientOf(t, pebble, key, { keyId: 'kid-1', hmacKey }).account()
  t.equal(await clientOf(t, pebble, key).account(), account, 'which is asked for once')
})

void t.test('an address that is none is the trouble of its authority, traced or not', async (t) => {
  for (const tracing of [undefined, noTracing()]) {
    const client = createAcmeClient({
      ...{ directory: 'nowhere', key: newKey(), email: null, profile: null, tracing },
      nowMs: () => Date.now(),
      signal: new AbortController().signal,
    })
    t.teardown(() => client.close())
    await t.rejects(client.account(), AcmeProblem)
  }
})
