/** The zone of certificates, asked over real sockets: by its owners, and by those who only want to do harm. */
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:dgram'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Resolver } from 'node:dns/promises'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { createDnsServer } from '../../../control-plane/acme/dns-server.ts'
import { labelOf } from '../../../control-plane/acme/dns-zone.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startServices } from '../../support/control-plane.ts'
import { createTestLog } from '../../support/fleet.ts'
import {
  askUdp,
  questionBytes,
  readMessage,
  textsOf,
  TYPE,
  wireName,
} from '../../support/name-server.ts'
import { clockOf } from '../../support/clocks.ts'

const ZONE = 'acme.example.com'
const THUMBPRINT = 'x'.repeat(43)
const SERVERS = ['ns1.example.com', 'ns2.example.com']
const LABEL = labelOf(THUMBPRINT, 7, 'app.example.test')
const OTHER = labelOf(THUMBPRINT, 8, 'app.example.test')
const REFUSED = 5
const NXDOMAIN = 3
const FORMERR = 1

async function start(t: Test) {
  const services = await startServices(t)
  const clock = { ms: 0, nowMs: () => clock.ms, steadyMs: () => clock.ms }
  const { log } = createTestLog()
  const zone = { name: ZONE, servers: SERVERS }
  const world = { zone, thumbprint: THUMBPRINT, store: services.store, clock, log }
  const server = createDnsServer(world)
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => server.close())
  const shows = (hostname: string, dnsLabel: string, dnsValue: string | null) =>
    services.store.change(async ({ queries }) => {
      const row = { hostname, tenantId: 'app', step: 'ordered', dueAt: 0 } as const
      await queries.insert(schema.acmeOrders).values({ ...row, dnsLabel, dnsValue })
    })
  const ask = async (...given: Parameters<typeof questionBytes>) => {
    const answer = await askUdp(port, questionBytes(...given))
    if (answer === undefined) throw new Error('no answer')
    return readMessage(answer)
  }
  return { port, clock, ask, shows, store: services.store, server }
}

/** What is said on one connection; it ends where the other side ends it. */
function askTcp(port: number, bytes: readonly Buffer[]): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const heard: Buffer[] = []
    socket.on('data', (chunk: Buffer) => void heard.push(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(Buffer.concat(heard)))
    for (const one of bytes) socket.write(one)
    socket.end()
  })
}

const framed = (bytes: Buffer) => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

t.test('what an authority looks for is there, and nothing of anybody else', async (t) => {
  const { ask, shows } = await start(t)
  await shows('app.example.test', LABEL, 'one')
  await shows('*.app.example.test', LABEL, 'two')
  await shows('www.example.test', OTHER, 'three')
  await shows('was.example.test', labelOf(THUMBPRINT, 9, 'was.example.test'), null)
  const found = await ask(`${LABEL}.${ZONE}`, TYPE.TXT)
  t.same(textsOf(found).sort(), ['one', 'two'])
  t.match(found, { id: 7, rcode: 0, isAnswer: true, isAuthoritative: true, isCut: false })
  t.same(
    found.answers.map(({ name, ttl }) => [name, ttl]),
    [
      [`${LABEL}.${ZONE}`, 1],
      [`${LABEL}.${ZONE}`, 1],
    ],
  )
  const spelled = `${LABEL.toUpperCase()}.aCmE.Example.COM`
  const echoed = await ask(spelled, TYPE.TXT)
  t.equal(echoed.question, spelled, 'by its capitals who asks knows whom it has asked')
  t.equal(textsOf(echoed).length, 2)
  for (const [name, type] of [
    [`${LABEL}.${ZONE}`, TYPE.A],
    [`${labelOf(THUMBPRINT, 9, 'was.example.test')}.${ZONE}`, TYPE.TXT],
    [`${labelOf(THUMBPRINT, 10, 'never.example.test')}.${ZONE}`, TYPE.TXT],
    [ZONE, TYPE.TXT],
    [ZONE, TYPE.ANY],
  ] as const) {
    const nothing = await ask(name, type)
    t.match(nothing, { rcode: 0, isAuthoritative: true }, name)
    t.same(nothing.answers, [], name)
    t.same(
      nothing.authorities.map((one) => [one.name, one.type, one.ttl]),
      [[ZONE, TYPE.SOA, 1]],
      'and may be there in a second',
    )
  }
})

t.test('the zone says who answers for it; no other name is answered', async (t) => {
  const { ask } = await start(t)
  const servers = (await ask(ZONE, TYPE.NS)).answers.map(({ content }) =>
    content.toString('latin1'),
  )
  t.same(
    servers,
    SERVERS.map((name) => wireName(name).toString('latin1')),
  )
  t.equal((await ask(ZONE, TYPE.SOA)).answers[0]?.type, TYPE.SOA)
  for (const name of [
    `a.${ZONE}`,
    `x.${LABEL}.${ZONE}`,
    `check-12.${ZONE}`,
    `_acme-challenge.${ZONE}`,
  ])
    t.match(await ask(name, TYPE.TXT), { rcode: NXDOMAIN, answers: [] }, name)
  for (const name of [
    '',
    'com',
    'example.com',
    `${ZONE}.evil.test`,
    `not${ZONE}`,
    'app.example.test',
  ]) {
    const refused = await ask(name, TYPE.TXT)
    t.match(refused, { rcode: REFUSED, isAuthoritative: false }, name)
    t.same([refused.answers, refused.authorities], [[], []], name)
  }
  t.match(await ask(`${LABEL}.${ZONE}`, TYPE.TXT, { class: 3 }), { rcode: REFUSED })
  // one label with a dot in it is no name of ours
  const dotted = Buffer.concat([
    questionBytes('', TYPE.TXT).subarray(0, 12),
    Buffer.of(ZONE.length),
    Buffer.from(ZONE),
    Buffer.of(0, 0, 16, 0, 1),
  ])
  const { port } = await start(t)
  t.equal(readMessage((await askUdp(port, dotted))!).rcode, REFUSED)
})

t.test('whether the zone leads here can be found out without an order', async (t) => {
  const { ask } = await start(t)
  const nonce = randomBytes(16).toString('hex')
  t.same(textsOf(await ask(`check-${nonce}.${ZONE}`, TYPE.TXT)), [`${nonce}.${THUMBPRINT}`])
})

t.test('what is no question is told so once, or not at all', async (t) => {
  const { port } = await start(t)
  const good = questionBytes(`${LABEL}.${ZONE}`, TYPE.TXT)
  const changed = (at: number, value: number) => {
    const bytes = Buffer.from(good)
    bytes[at] = value
    return bytes
  }
  const opt = questionBytes(`${LABEL}.${ZONE}`, TYPE.TXT, { edns: 1232 })
  const pointer = Buffer.concat([good.subarray(0, 12), Buffer.of(0xc0, 0x0c, 0, 16, 0, 1)])
  const longOption = Buffer.concat([opt.subarray(0, -2), Buffer.of(0, 5, 0, 3, 0, 9, 1)])
  const many = Buffer.concat([
    good.subarray(0, 12),
    ...Array.from({ length: 5 }, () => wireName('a'.repeat(63)).subarray(0, -1)),
    Buffer.of(0, 0, 16, 0, 1),
  ])
  for (const [what, bytes] of [
    ['two questions', changed(5, 2)],
    ['an answer within', changed(7, 1)],
    ['an authority within', changed(9, 1)],
    ['a record that is not there', changed(11, 1)],
    [
      'two records',
      Buffer.concat([opt.subarray(0, 11), Buffer.of(2), opt.subarray(12), opt.subarray(-11)]),
    ],
    ['bytes behind it', Buffer.concat([good, Buffer.of(0)])],
    ['bytes behind EDNS', Buffer.concat([opt, Buffer.of(0)])],
    [
      'another record than OPT',
      Buffer.concat([opt.subarray(0, -10), Buffer.of(0, 250), opt.subarray(-8)]),
    ],
    ['an option longer than its record', longOption],
    ['a name that points to itself', pointer],
    ['a name of 320 bytes', many],
    ['a name without an end', good.subarray(0, 20)],
    ['no type', good.subarray(0, -3)],
  ] as const) {
    const answer = await askUdp(port, bytes)
    t.equal(answer && readMessage(answer).rcode, FORMERR, what)
    t.ok((answer?.length ?? 0) <= bytes.length + 11, `${what}: no longer than what was asked`)
  }
  t.equal(readMessage((await askUdp(port, changed(2, 0x28)))!).rcode, 4, 'an UPDATE')
  const version = questionBytes(ZONE, TYPE.SOA, { edns: 1232, version: 1 })
  const refused = readMessage((await askUdp(port, version))!)
  t.equal(refused.extensions[0]?.ttl, 0x01000000, 'another version of EDNS')
  for (const [what, bytes] of [
    ['an answer', changed(2, 0x81)],
    ['half a head', good.subarray(0, 11)],
    [
      'more than a question can be',
      Buffer.concat([good, Buffer.alloc(LIMITS.dnsQuestionBytesMax)]),
    ],
  ] as const)
    t.equal(await askUdp(port, bytes, 200), undefined, what)
})

t.test('an answer is little longer than its question, and says how long it may be', async (t) => {
  const { port, shows } = await start(t)
  for (let at = 0; at < 40; at++)
    await shows(`h${at}.example.test`, LABEL, `${at}`.padStart(43, '-'))
  const question = (edns?: number) =>
    questionBytes(`${LABEL}.${ZONE}`, TYPE.TXT, edns === undefined ? {} : { edns })
  for (const edns of [undefined, 100, 512, 4096, 65_535]) {
    const answer = (await askUdp(port, question(edns)))!
    t.ok(answer.length <= question(edns).length + 11)
    t.match(readMessage(answer), { isCut: true, answers: [], authorities: [] }, String(edns))
    t.equal(readMessage(answer).extensions.length, edns === undefined ? 0 : 1)
  }
  const whole = await askTcp(port, [framed(question()), framed(question(512))])
  const length = whole.readUInt16BE(0)
  t.equal(textsOf(readMessage(whole.subarray(2, 2 + length))).length, 40, 'over TCP it is whole')
  t.equal(textsOf(readMessage(whole.subarray(4 + length))).length, 40, 'one after the other')
})

t.test('one network gets few answers over UDP, and is told to come over TCP', async (t) => {
  const { port, clock } = await start(t)
  const question = questionBytes(ZONE, TYPE.SOA)
  for (let count = 0; count < LIMITS.dnsAnswersBurstMax; count++)
    if ((await askUdp(port, question)) === undefined) t.fail(`answer ${count} is missing`)
  const said: (Buffer | undefined)[] = []
  for (let count = 0; count < 6; count++) said.push(await askUdp(port, question, 100))
  const answered = said.filter((one) => one !== undefined)
  t.equal(answered.length, 3, 'every second one is told so')
  for (const one of answered) {
    t.match(readMessage(one), { isCut: true, answers: [] })
    t.equal(one.length, question.length)
  }
  const overTcp = await askTcp(port, [framed(question)])
  t.equal(readMessage(overTcp.subarray(2)).answers.length, 1)
  clock.ms += 1000
  let count = 0
  for (let asked = 0; asked < LIMITS.dnsAnswersPerSecondMax + 4; asked++) {
    const answer = await askUdp(port, question, 100)
    if (answer !== undefined && !readMessage(answer).isCut) count++
  }
  t.equal(count, LIMITS.dnsAnswersPerSecondMax)
})

t.test('who names port 0 as its own is not answered, and ends nothing', async (t) => {
  const sockets: Socket[] = []
  const note = (message: unknown) => void sockets.push((message as { socket: Socket }).socket)
  subscribe('udp.socket', note)
  const { ask } = await start(t)
  unsubscribe('udp.socket', note)
  const [own] = sockets
  // as it comes from a network; only root sends such a one
  own?.emit('message', questionBytes(ZONE, TYPE.SOA), { address: '127.0.0.1', port: 0 })
  t.match(await ask(ZONE, TYPE.SOA), { rcode: 0, isAnswer: true })
  t.equal(sockets.length, 1)
})

t.test('connections have an end, and a bound', async (t) => {
  const { port } = await start(t)
  const question = framed(questionBytes(ZONE, TYPE.SOA))
  const most = LIMITS.dnsQuestionsPerConnectionMax
  const heard = await askTcp(
    port,
    Array.from({ length: most + 5 }, () => question),
  )
  const each = heard.readUInt16BE(0) + 2
  t.equal(heard.length / each, most)
  const long = Buffer.alloc(LIMITS.dnsQuestionBytesMax + 3)
  long.writeUInt16BE(LIMITS.dnsQuestionBytesMax + 1)
  t.equal((await askTcp(port, [long])).length, 0, 'a question that is too long')
  const held = Array.from({ length: LIMITS.dnsConnectionsPerAddressMax }, () =>
    connect(port, '127.0.0.1'),
  )
  await Promise.all(held.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
  t.equal((await askTcp(port, [question])).length, 0, 'of one address')
  const gone = held.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
  for (const socket of held) socket.destroy()
  await Promise.all(gone)
  while ((await askTcp(port, [question])).length === 0);
})

t.test('however many ask, the store is read a few times', async (t) => {
  const { store, shows } = await start(t)
  await shows('app.example.test', LABEL, 'one')
  let reads = 0
  const read = new Proxy(store.read, {
    get(target, name) {
      if (name === 'select') reads++
      return Reflect.get(target, name) as unknown
    },
  })
  const zone = { name: ZONE, servers: SERVERS }
  const { log } = createTestLog()
  const clock = clockOf(() => 0)
  const server = createDnsServer({ zone, thumbprint: THUMBPRINT, store: { read }, clock, log })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => server.close())
  const began = performance.now()
  const question = questionBytes(`${LABEL}.${ZONE}`, TYPE.TXT)
  await Promise.all(Array.from({ length: LIMITS.dnsAnswersBurstMax }, () => askUdp(port, question)))
  const periods = Math.ceil((performance.now() - began) / LIMITS.dnsValuesMsMax)
  t.ok(reads >= 1 && reads <= periods, `${reads} reads in ${periods} periods`)
})

t.test('a resolver of others can read it', async (t) => {
  const { port, shows } = await start(t)
  await shows('app.example.test', LABEL, 'one')
  const resolver = new Resolver({ timeout: 2000, tries: 1 })
  resolver.setServers([`127.0.0.1:${port}`])
  t.same(await resolver.resolveTxt(`${LABEL}.${ZONE}`), [['one']])
  t.same((await resolver.resolveNs(ZONE)).sort(), SERVERS)
  t.match(await resolver.resolveSoa(ZONE), { nsname: SERVERS[0], minttl: 1 })
  await t.rejects(resolver.resolve4(`${LABEL}.${ZONE}`), { code: 'ENODATA' })
  await t.rejects(resolver.resolveTxt(`a.${ZONE}`), { code: 'ENOTFOUND' })
})

t.test('a label is of one owner, one name and one account', (t) => {
  const labels = [
    labelOf(THUMBPRINT, 7, 'a.example.test'),
    labelOf(THUMBPRINT, 8, 'a.example.test'),
    labelOf(THUMBPRINT, 'own', 'a.example.test'),
    labelOf(THUMBPRINT, 7, 'b.example.test'),
    labelOf('y'.repeat(43), 7, 'a.example.test'),
  ]
  t.equal(new Set(labels).size, labels.length)
  for (const label of labels) t.match(label, /^[a-z2-7]{32}$/)
  t.equal(labelOf(THUMBPRINT, 7, 'a.example.test'), labels[0], 'and stays')
  t.end()
})
