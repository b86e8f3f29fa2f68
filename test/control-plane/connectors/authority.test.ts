/** The key that lists of gateways are signed with, and how another one takes its place. */
import t from 'tap'
import { compactVerify } from 'jose'
import { importConnectorKey } from '../../../shared/connector/handshake.ts'
import { signRequest } from '../../../shared/connector/requests.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { readStateDocument } from '../../../control-plane/downloads/connector/service/gateway-list.ts'
import { makeKey, readDocument, startConnectors, type Joined } from '../../support/connectors.ts'

const PATH = '/connector-authority'

async function start(t: Parameters<typeof startConnectors>[0]) {
  const world = await startConnectors(t)
  const { operator, signed } = world
  const rotate = (body: object) => operator('POST', `${PATH}/rotate`, body)
  const status = async () => (await operator('GET', PATH)).body
  type Who = Parameters<typeof signed>[1]
  /** As a connector asks that has nothing to confirm. */
  const ask = async (who: Who) => {
    const { body } = await signed('state', who)
    return { document: String(body['document']), handovers: (body['handovers'] ?? []) as string[] }
  }
  return { ...world, rotate, status, ask }
}

void t.test('the next key is told in lists that the current one signs', async (t) => {
  const { joined, ask, rotate, status } = await start(t)
  const who = await joined()
  const first = await readDocument(who.document, who.authority)
  t.strictSame(first.list.authorities, [who.authority])
  t.strictSame(await status(), {
    current: who.authority,
    next: null,
    waiting: 0,
    waiting_connectors: [],
  })

  const prepared = await rotate({ phase: 'prepare' })
  t.match(prepared, { status: 200, body: { current: who.authority, next: /^[\w-]{43}$/ } })
  const next = String(prepared.body['next'])
  const { document, handovers } = await ask(who)
  const { list } = await readDocument(document, who.authority)
  t.strictSame(list.authorities, [who.authority, next])
  t.ok(list.sequence > first.list.sequence, 'whoever replays the one before is told apart')
  t.strictSame(handovers, [])
  t.match(await rotate({ phase: 'prepare' }), { status: 409, body: { error: 'rotation_state' } })
  t.equal((await status())['next'], next)
})

void t.test('it takes its place once all connectors have confirmed it', async (t) => {
  const { joined, ask, rotate, status, signed, operator, clock } = await start(t)
  const [one, other] = [await joined(), await joined()]
  clock.advance(1000)
  await ask(one)
  t.match(await rotate({ phase: 'promote' }), { status: 409, body: { error: 'rotation_state' } })
  const next = String((await rotate({ phase: 'prepare' })).body['next'])
  await ask(one)
  t.equal((await status())['waiting'], 2, 'to have been answered is not to have it')
  const confirm = (who: typeof one, authority: string, also: object = {}) =>
    signed('state', who, undefined, { authority, ...also })
  t.match(await confirm(one, next), { status: 200 })
  t.match(await status(), {
    waiting: 1,
    waiting_connectors: [{ tenant_id: 'acme', connector_id: other.connector_id, seen_at: String }],
  })
  const refused = await rotate({ phase: 'promote' })
  t.match(refused, { status: 409, body: { detail: /^1 connector has not confirmed the next key/ } })
  t.strictSame((await readDocument((await ask(one)).document, one.authority)).list.authorities, [
    one.authority,
    next,
  ])
  await confirm(other, next)
  const promoted = await rotate({ phase: 'promote' })
  t.match(promoted, { status: 200, body: { current: next, next: null, waiting: 0 } })
  const { document } = await ask(one)
  t.strictSame((await readDocument(document, next)).list.authorities, [next])
  t.equal((await joined()).authority, next, 'who joins now knows this one alone')
  t.match(await rotate({ phase: 'promote' }), { status: 409 }, 'there is no next one any more')
  const { items } = await operator('GET', '/audit')
  t.match(
    items.filter(({ action }) => String(action).startsWith('connector_authority')),
    [{ action: 'connector_authority.promoted' }, { action: 'connector_authority.prepared' }],
  )
})

void t.test('who joins while the key is replaced is told the key of its list', async (t) => {
  const { joined, rotate, services } = await start(t)
  await joined()
  const { connectorAuthority } = services
  const { sign } = connectorAuthority
  await rotate({ phase: 'prepare' })
  connectorAuthority.sign = async (list) => {
    const signed = await sign(list)
    connectorAuthority.sign = sign
    await rotate({ phase: 'promote', force: true })
    return signed
  }
  const who = await joined()
  await t.resolves(readDocument(who.document, who.authority))
})

void t.test('a connector whose tenant has another mode by now holds nobody up', async (t) => {
  const { joined, rotate, operator } = await start(t)
  await joined()
  await rotate({ phase: 'prepare' })
  t.match(await rotate({ phase: 'promote' }), { status: 409 })
  await operator('PATCH', '/tenants/acme', { mode: 'gateway', origin: 'http://127.0.0.1:1' })
  t.match(await rotate({ phase: 'promote' }), { status: 200 })
})

void t.test('what a connector confirms is signed', async (t) => {
  const { joined, rotate, status, call, challenge } = await start(t)
  const who = await joined()
  const next = String((await rotate({ phase: 'prepare' })).body['next'])
  const { connector_id, key_id } = who
  const given = await challenge(connector_id)
  const send = (body: object) =>
    call('POST', '/api/v1/connector/state', body, { key: null, address: '192.0.2.1' })
  const plain = { challenge: given, connectorId: connector_id, keyId: key_id }
  const signature = signRequest({ kind: 'state', ...plain }, who.own.privateKey)
  const body = { connector_id, key_id, challenge: given, signature }
  const added = await send({ ...body, authority: next })
  t.match(added, { status: 401, body: { error: 'connector_refused' } })
  const asNext = await send({ ...body, next_public_key: makeKey().publicKey })
  t.match(asNext, { status: 401 })
  t.equal((await status())['waiting'], 1)
  t.match(await send(body), { status: 200 })
})

void t.test('who was away follows the word of each key before', async (t) => {
  const { joined, ask, rotate } = await start(t)
  const who = await joined()
  const keys = [who.authority]
  for (let count = 0; count < 3; count++) {
    keys.push(String((await rotate({ phase: 'prepare' })).body['next']))
    await rotate({ phase: 'promote', force: true })
  }
  const answer = await ask(who)
  t.equal(answer.handovers.length, 3)
  for (const [at, word] of answer.handovers.entries()) {
    const { payload, protectedHeader } = await compactVerify(word, importConnectorKey(keys[at]!))
    t.strictSame(protectedHeader, { alg: 'EdDSA', typ: 'connector-handover+jwt' })
    t.strictSame(JSON.parse(Buffer.from(payload).toString()), { next: keys[at + 1] })
  }
  t.match(readStateDocument(answer, who), { authorities: [keys[3]] })
  const owner = (authority: string): Joined => ({ ...who, authority })
  t.match(readStateDocument(answer, owner(keys[2]!)), { authorities: [keys[3]] })
  const { document, handovers } = answer
  for (const [what, words] of [
    ['no word', []],
    ['the first is missing', handovers.slice(1)],
    ['one in between is missing', [handovers[0]!, handovers[2]!]],
    ['the last is missing', handovers.slice(0, 2)],
    ['none of it is a word', ['', document, 'a.b.c', `${handovers[0]} `]],
  ] as const)
    t.match(readStateDocument({ document, handovers: words }, who), /^its signature is not/, what)
  t.match(readStateDocument(answer, owner(makeKey().publicKey)), /^its signature is not/)
})

void t.test('a list is no word, and a word is no list', async (t) => {
  const { joined, ask, rotate } = await start(t)
  const who = await joined()
  await rotate({ phase: 'prepare' })
  await rotate({ phase: 'promote', force: true })
  const { handovers, document } = await ask(who)
  t.match(readStateDocument({ document: handovers[0]!, handovers }, who), /^it is not a list/)
  t.match(readStateDocument({ document, handovers: [who.document] }, who), /^its signature is not/)
})

void t.test('a key that has leaked leaves no word for the next one', async (t) => {
  const { joined, ask, rotate, signed } = await start(t)
  const [here, away] = [await joined(), await joined()]
  await rotate({ phase: 'prepare' })
  await rotate({ phase: 'promote', force: true })
  const next = String((await rotate({ phase: 'prepare' })).body['next'])
  const read = readStateDocument(await ask(here), here)
  const { authorities: [authority = '', next_authority = ''] = [] } = read as {
    authorities: string[]
  }
  t.equal(next_authority, next)
  await signed('state', here, undefined, { authority: next })
  await rotate({ phase: 'promote', force: true, leaked: true })
  const answer = await ask(away)
  t.strictSame(answer.handovers, [], 'those of before would lead to the one that has leaked')
  t.match(readStateDocument(answer, away), /operator has replaced its key.*join with a new token/)
  t.match(readStateDocument(await ask(here), { ...here, authority, next_authority }), {
    authorities: [next],
  })
})

void t.test('so many words are kept, and no more', async (t) => {
  const { joined, ask, rotate } = await start(t)
  const who = await joined()
  const most = LIMITS.connectorHandoversMax
  for (let count = 0; count <= most; count++) {
    await rotate({ phase: 'prepare' })
    await rotate({ phase: 'promote', force: true })
    const answer = await ask(who)
    t.equal(answer.handovers.length, Math.min(count + 1, most))
    const isLed = typeof readStateDocument(answer, who) !== 'string'
    t.equal(isLed, count < most, `${count + 1} rotations`)
  }
})

void t.test('only the operator replaces it', async (t) => {
  const { call, tenant } = await start(t)
  const { client_secret: secret } = await tenant('globex')
  for (const key of [null, secret, 'x'])
    for (const [method, path, body] of [
      ['GET', PATH, undefined],
      ['POST', `${PATH}/rotate`, { phase: 'prepare' }],
    ] as const)
      t.equal((await call(method, `/api/v1/operator${path}`, body, { key })).status, 401)
})
