/** How a connector shows who it is, changes its key, and leaves. */
import t from 'tap'
import { signRequest } from '../../../shared/connector/requests.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { makeKey, readDocument, startConnectors } from '../../support/connectors.ts'

const REFUSED = { status: 401, body: { error: 'connector_refused' } }

void t.test(
  'whoever signs is told which gateways there are, by a list that is signed',
  async (t) => {
    const { joined, signed } = await startConnectors(t)
    const who = await joined()
    const answer = await signed('state', who)
    t.match(answer, { status: 200, body: { poll_seconds: LIMITS.connectorPollSeconds } })
    t.notOk('key_id' in answer.body)
    const { list, header } = await readDocument(String(answer.body['document']), who.authority)
    t.strictSame(header, { alg: 'EdDSA', typ: 'connector-gateways+jwt' })
    const { connector_id } = who
    t.match(list, { tenant_id: 'acme', connector_id, gateways: [], sequence: Number })
    t.strictSame(Object.keys(list).sort(), [
      'authorities',
      'connector_id',
      'gateways',
      'sequence',
      'tenant_id',
    ])
    t.strictSame((await readDocument(who.document, who.authority)).list, list)
    const other = await joined()
    t.equal(other.authority, who.authority, 'one for the whole installation')
  },
)

void t.test('unknown, revoked and wrongly signed are one and the same', async (t) => {
  const { joined, signed, operator, challenge, ask, clock } = await startConnectors(t)
  const [who, revoked] = [await joined(), await joined()]
  await operator('DELETE', `/tenants/acme/connectors/${revoked.connector_id}`)
  const answers = {
    unknown: await signed('state', { ...who, connector_id: 'con_nobody' }),
    'another key id': await signed('state', { ...who, key_id: revoked.key_id }),
    revoked: await signed('state', revoked),
    'another key': await signed('state', { ...who, own: makeKey() }),
    'a challenge of another': await signed('state', who, undefined, {
      challenge: await challenge('con_nobody'),
    }),
    'a challenge of nobody': await signed('state', who, undefined, { challenge: 'a.b.c' }),
    'a signature of nothing': await signed('state', who, undefined, {
      signature: 'A'.repeat(86),
    }),
    'a key put in on the way': await signed('state', who, undefined, {
      next_public_key: makeKey().publicKey,
    }),
    'a key exchanged on the way': await signed('state', who, makeKey().publicKey, {
      next_public_key: makeKey().publicKey,
    }),
    'leave with another key': await signed('leave', { ...who, own: makeKey() }),
  }
  for (const [name, { status, body }] of Object.entries(answers)) {
    t.match({ status, body }, REFUSED, name)
    t.equal(body['detail'], answers.unknown.body['detail'], name)
  }
  t.match(await ask('challenge', { connector_id: 'con_nobody' }), {
    status: 200,
    body: { challenge: String },
  })
  const given = await challenge(who.connector_id)
  clock.advance(LIMITS.connectorChallengeMs)
  t.match(await signed('state', who, undefined, { challenge: given }), REFUSED, 'too late')
})

void t.test('a request to be told is none to leave', async (t) => {
  const { joined, challenge, ask, operator } = await startConnectors(t)
  const { connector_id, key_id, own } = await joined()
  const given = await challenge(connector_id)
  const request = { challenge: given, connectorId: connector_id, keyId: key_id }
  const signature = signRequest({ kind: 'state', ...request }, own.privateKey)
  t.match(await ask('leave', { connector_id, key_id, challenge: given, signature }), REFUSED)
  t.equal((await operator('GET', '/tenants/acme/connectors')).items.length, 1)
})

void t.test('a key is replaced without a moment in which none counts', async (t) => {
  const { joined, signed, services, operator } = await startConnectors(t)
  const who = await joined()
  const next = makeKey()
  const keys = async () =>
    (await services.fleetSource.snapshot('acme'))?.snapshot?.connectors?.[0]?.keys.map(
      ({ public_key }) => public_key,
    )
  const begun = await signed('state', who, next.publicKey)
  t.match(begun, { status: 200, body: { key_id: /^cok_/, document: String } })
  t.strictSame(await keys(), [who.own.publicKey, next.publicKey])
  const again = await signed('state', who, next.publicKey)
  t.equal(again.body['key_id'], begun.body['key_id'], 'its answer was lost')

  const another = makeKey()
  const instead = await signed('state', who, another.publicKey)
  t.strictSame(await keys(), [who.own.publicKey, another.publicKey], 'two at most')
  t.equal((await keys())?.length, LIMITS.connectorKeysMax)
  const gone = { ...who, key_id: String(begun.body['key_id']), own: next }
  t.match(await signed('state', gone), REFUSED)

  const renewed = { ...who, key_id: String(instead.body['key_id']), own: another }
  t.equal((await signed('state', renewed)).status, 200)
  t.strictSame(await keys(), [another.publicKey], 'the old one has ended')
  t.match(await signed('state', who), REFUSED)
  t.equal((await signed('state', renewed)).status, 200)
  const { items } = await operator('GET', '/audit')
  t.match(items.slice(0, 2), [
    { action: 'connector.key_replaced', actor: /^connector:/ },
    { action: 'connector.key_added' },
  ])
})

void t.test('whoever leaves is gone, and nobody else', async (t) => {
  const { joined, signed, operator } = await startConnectors(t)
  const [who, other] = [await joined(), await joined()]
  t.match(await signed('leave', who), { status: 204 })
  t.match(await signed('leave', who), REFUSED)
  const { items } = await operator('GET', '/tenants/acme/connectors')
  t.match(items, [{ connector_id: other.connector_id }])
  t.match((await operator('GET', '/audit')).items[0], { action: 'connector.left' })
})

void t.test('asking writes nothing but, now and then, that it was here', async (t) => {
  const { joined, signed, operator, services, clock } = await startConnectors(t)
  const who = await joined()
  const revision = await services.store.revision()
  const seen = async () => (await operator('GET', '/tenants/acme/connectors')).items[0]?.['seen_at']
  const joinedAt = await seen()
  clock.advance(LIMITS.connectorSeenEveryMs - 1)
  await signed('state', who)
  t.equal(await seen(), joinedAt)
  clock.advance(1)
  await signed('state', who)
  t.equal(await seen(), new Date(clock.nowMs()).toISOString())
  t.equal(await services.store.revision(), revision, 'gateways are not told')
})

void t.test('an address asks so often and no more', async (t) => {
  const { ask } = await startConnectors(t)
  const body = { connector_id: 'con_nobody' }
  for (let left = LIMITS.rateConnectorState.burst; left > 0; left--) await ask('challenge', body)
  t.match(await ask('challenge', body), { status: 429, body: { error: 'rate_limited' } })
  t.equal((await ask('challenge', body, null, '198.51.100.1')).status, 200)
})

void t.test('a connector changes its key so often and no more, from wherever', async (t) => {
  const { joined, challenge, ask, services, clock } = await startConnectors(t)
  const [who, other] = [await joined(), await joined()]
  let network = 0
  const state = async ({ connector_id, key_id, own }: typeof who, nextPublicKey?: string) => {
    const given = await challenge(connector_id)
    const request = { challenge: given, connectorId: connector_id, keyId: key_id, nextPublicKey }
    const signature = signRequest({ kind: 'state', ...request }, own.privateKey)
    const signed = { connector_id, key_id, challenge: given, signature }
    const body = {
      ...signed,
      ...(nextPublicKey !== undefined && { next_public_key: nextPublicKey }),
    }
    return ask('state', body, null, `198.51.100.${(network = (network + 1) % 250)}`)
  }
  const { burst, perSecond } = LIMITS.rateConnectorOwn
  for (let left = burst; left > 0; left--)
    t.equal((await state(who, makeKey().publicKey)).status, 200)
  const revision = await services.store.revision()
  const wrong = { ...who, own: makeKey() }
  t.match(await state(wrong), REFUSED, 'who cannot sign learns nothing of it')
  t.match(await state(who, makeKey().publicKey), { status: 429, body: { error: 'rate_limited' } })
  t.match(await state(who), { status: 429 })
  t.equal(await services.store.revision(), revision, 'gateways are told nothing')
  t.equal((await state(other)).status, 200)
  clock.advance(1000 / perSecond)
  t.equal((await state(who)).status, 200)
  t.ok(1 / perSecond <= LIMITS.connectorPollSeconds / 2, 'twice as often as it is told to')
})
