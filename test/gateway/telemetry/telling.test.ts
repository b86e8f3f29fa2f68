/** What the edge tells of itself: each line about its own request, each count once. */
import t from 'tap'
import { createLineWriter } from '../../../gateway/telemetry/line-writer.ts'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import { createWorkerCounter } from '../../../gateway/telemetry/worker-counts.ts'
import { HOST, startEdge, USER_AGENT, type EdgeWorld } from '../../support/edge-world.ts'
import { until } from '../../support/fleet.ts'
import { requestFields, FrameClient } from '../../support/http2-frames.ts'
import { startSecureEdge } from '../../support/secure-edge.ts'
import { RawClient, startOrigin, startRawOrigin } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

const headOf = (target: string, { method = 'GET', host = HOST, cookie = '' } = {}) =>
  `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: ${USER_AGENT}\r\n${cookie === '' ? '' : `Cookie: ${cookie}\r\n`}\r\n`

async function ask(edge: EdgeWorld, head: string) {
  const client = new RawClient(edge.port)
  client.send(head)
  const answer = await client.answer(head.startsWith('HEAD') ? 'HEAD' : 'GET')
  client.close()
  return answer
}

t.test('a line never has the host, method, decision or reason of the line before', async (t) => {
  const origin = await startOrigin(t)
  const hosts = [HOST, 'second.localhost']
  const edge = await startEdge(t, origin.url, {
    edge_urls: Object.fromEntries(hosts.map((host) => [host, `http://${host}`])),
  })
  const cookie = edge.session()
  const wishes: Record<string, unknown>[] = []
  // From each line to the next as little changes as can.
  for (const method of ['GET', 'HEAD'])
    for (const [target, given, decision, reason] of [
      ['/work', cookie, 'forward', 'session'],
      ['/health', cookie, 'forward', 'excluded'],
      ['/work', '', 'sign_in', 'no_session'],
      ['/admin', cookie, 'refuse', 'sealed'],
      ['/service/me', cookie, 'service', undefined],
    ] as const) {
      for (const host of wishes.length % 4 === 0 ? hosts : hosts.toReversed()) {
        await ask(edge, headOf(target, { method, host, cookie: given }))
        wishes.push({ host, method, path: target, decision, reason })
      }
    }
  await until(() => edge.lines.length >= wishes.length)
  const told = edge.lines.map(({ host, method, path, decision, reason }) => ({
    host,
    method,
    path,
    decision,
    reason,
  }))
  t.same(told, wishes)
})

t.test('what failed or was cut is told whatever the sample, and how', async (t) => {
  let leave = () => {}
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', (chunk: Buffer) => {
      if (chunk.includes(' /cut ')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut')
      else if (chunk.includes(' /gone ')) socket.end()
      else if (chunk.includes(' /left ')) leave()
      else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  const edge = await startEdge(t, origin.url, {}, {}, { accessLogSample: 0 })
  const cookie = edge.session()
  for (const target of ['/fine', '/cut', '/gone']) await ask(edge, headOf(target, { cookie }))
  await until(() => edge.lines.length >= 2)
  t.match(edge.lines[0], { path: '/cut', status: 200, cut: true, failure: 'upstream_reset' })
  t.match(edge.lines[1], { path: '/gone', status: 502, failure: 'upstream_reset' })
  t.notOk(edge.lines[1]?.['cut'])
  const leaving = new RawClient(edge.port)
  leave = () => void leaving.socket.resetAndDestroy()
  leaving.send(headOf('/left', { cookie }))
  await until(() => edge.lines.length >= 3)
  t.match(edge.lines[2], { path: '/left', status: 0, cut: true })
  t.equal(edge.lines.length, 3)

  const { upstreamErrors, upstreamFirstByte, cut } = edge.gateway.telemetry.take()
  t.same(upstreamErrors, { upstream_reset: 2 })
  t.equal(cut, 2)
  const answered = upstreamFirstByte.buckets.reduce((sum, count) => sum + count, 0)
  t.equal(answered, 2, 'two had a first byte')
})

t.test('what was no request is counted by its reason, on both protocols', async (t) => {
  const origin = await startOrigin(t)
  const edge = await startSecureEdge(t, origin.url)
  await ask(edge, 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n')
  t.equal(count(edge.gateway.telemetry.take().refusedHeads), 1)
  const client = new FrameClient(await edge.tls('h2'))
  client.request(1, requestFields(HOST, '/', [['transfer-encoding', 'chunked']]))
  client.request(3, requestFields('elsewhere.localhost'))
  await client.settled()
  const { refusedHeads } = edge.gateway.telemetry.take()
  t.match([count(refusedHeads), refusedHeads['misdirected']], [2, 1])
})

const count = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((sum, each) => sum + each, 0)

const REQUEST = {
  tenantId: 'acme',
  decision: 'forward',
  reason: 'session',
  status: 200,
  bytes: 100,
  isCut: true,
  failureCode: 'upstream_reset',
  ms: 5,
  upstreamMs: 5,
}

t.test('what has been handed over is not handed over again', async (t) => {
  const hops = { hopsOpened: 5, hopsFailed: 1, hopsServed: 4 }
  const totals = { verifyHits: 7, verifyMisses: 3, linesDropped: 2, ...hops }
  const counter = createWorkerCounter(() => ({ ...totals }))
  counter.count(REQUEST)
  counter.countRefusedHead('host')
  const first = counter.take()
  t.match(first, { ...totals, bytes: 100, cut: 1, upstreamErrors: { upstream_reset: 1 } })
  t.equal(first.application.buckets[3], 1, 'a bound belongs to its bucket')
  const second = counter.take()
  t.match(second, { verifyHits: 0, verifyMisses: 0, linesDropped: 0, bytes: 0, cut: 0 })
  t.same([second.requests, second.upstreamErrors, second.refusedHeads], [[], {}, {}])
  t.equal(
    second.application.sumMs + second.application.buckets.reduce((sum, each) => sum + each, 0),
    0,
  )
  totals.verifyHits = 9
  t.equal(counter.take().verifyHits, 2)

  const metrics = createMetrics({ id: 'edge-1', version: '1.0.0', clock: clockOf(() => 0) })
  const gauges = {
    connections: 0, inFlight: 0, webSockets: 0, upstreamSockets: 0, upstreamIdle: 0, upstreamWaiting: 0,
    hopsOver: 2, hopsServed: 3, loopLagMs: 0, cpuMs: 0, residentBytes: 0,
  } // prettier-ignore
  metrics.absorb(1, { counts: first, gauges })
  const link = {
    epoch: '', revision: 0, tenants: 0, rejected: 0, isConfigured: true, isDamaged: false,
    isConnected: true, syncedMs: null, workersReady: 1, isDiskHealthy: true, correctionMs: 0,
  } // prettier-ignore
  const text = await metrics.text({ link, workersWanted: 1, workersServing: 1 })
  t.match(text, /^gateway_verify_cache_total\{result="hit"\} 7$/m)
  t.match(text, /^gateway_hops_total\{result="opened"\} 5$/m)
  t.match(text, /^gateway_hops_total\{result="failed"\} 1$/m)
  t.match(text, /^gateway_hops_served_total 4$/m)
  t.match(text, /^gateway_hop_connections\{side="asking"\} 2$/m)
  t.match(text, /^gateway_hop_connections\{side="serving"\} 3$/m)
  t.match(text, /^gateway_verify_cache_total\{result="miss"\} 3$/m)
  t.match(text, /^gateway_access_log_dropped_total 2$/m)
})

t.test('a line goes out by itself, and one that is written in part holds no room', async (t) => {
  let written = ''
  const writer = createLineWriter({
    heldMax: 4096,
    write(text, done) {
      const part = text.slice(0, 1 + (text.length >> 1))
      written += part
      setImmediate(() => done(null, part.length))
    },
  })
  const line = `${'x'.repeat(999)}\n`
  for (let round = 1; round <= 3; round++) {
    for (let at = 0; at < 3; at++) writer.add(line)
    await until(() => written.length === round * 3 * line.length)
  }
  t.equal(writer.dropped(), 0)
  await writer.close()
})
