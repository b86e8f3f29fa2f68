/**
 * Every sample case, over real sockets. A refused request must not even have its head reach the
 * origin; a forwarded one reaches it exactly once.
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Test } from 'tap'
import type { Exchange } from '../../gateway/wire/exchange.ts'
import { RawClient, startOrigin, startRawOrigin, startWire } from '../support/wire.ts'
import type { Origin, Wire } from '../support/wire.ts'

type Expectation = 'reject' | 'forward' | 'forward-normalised'
interface HttpCase {
  readonly id: string
  readonly side: 'request' | 'response'
  readonly raw: string
  readonly expect: Expectation
  readonly alt?: Expectation
  readonly why: string
  readonly send?: 'bytewise' | 'half-close'
  readonly upstream?: 'close' | 'refused' | 'blackhole'
  readonly must_not_reach_upstream?: readonly string[]
  readonly must_not_reach_upstream_value?: readonly [string, string]
}

const path = new URL('../fixtures/http-cases.json', import.meta.url)
const { cases } = JSON.parse(readFileSync(path, 'utf8')) as { cases: readonly HttpCase[] }

/** Two tenants, one sealed path, one public one; the rest would need a session. */
function decide(exchange: Exchange, wire: Wire): void {
  const { host, target } = exchange.head
  const refuse = (status: number) => exchange.respond({ status, headerLines: [], body: 'no' })
  if (host !== 'app.acme.test' && host !== 'app.beta.test') return refuse(404)
  if (/^\/admin/i.test(target)) return refuse(404)
  if (!/^\/health(?:[/?]|$)/.test(target)) return refuse(401)
  exchange.forward(wire.plan(exchange))
}

async function send(client: RawClient, given: HttpCase): Promise<void> {
  if (given.send === 'bytewise')
    for (const byte of given.raw) {
      client.send(byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
  else client.send(given.raw)
  if (given.send === 'half-close') client.socket.end()
}

t.test('requests', async (t) => {
  for (const given of cases.filter(({ side }) => side === 'request'))
    await t.test(`${given.id}: ${given.why}`, async (t) => {
      const origin = await startOrigin(t)
      const wire = await startWire(t, origin.url, { decide })
      const client = new RawClient(wire.port)
      t.teardown(() => client.close())
      await send(client, given)
      const answer = await client.answer(given.raw.trimStart().split(/[ \t]/)[0])
      const isForwarded = origin.seen.length > 0
      const allowed = [given.expect, given.alt].filter((item) => item !== undefined)
      if (isForwarded) {
        t.equal(answer?.status, 200, 'a forwarded request has its answer')
        t.ok(
          allowed.some((item) => item.startsWith('forward')),
          'forwarding it is right',
        )
        checkForwarded(t, given, origin)
      } else {
        const isSignIn = answer?.status === 401
        t.ok(allowed.includes('reject') || isSignIn, `refused with ${answer?.status}`)
        if (answer !== undefined) t.ok(answer.status >= 400, `refused with ${answer.status}`)
        t.equal(given.send === 'half-close' ? 0 : origin.begun(), 0, 'nothing reached the origin')
        // Answered by a decision, the connection may stay; refused by the grammar, it is closed.
        if (answer !== undefined && /^connection: close$/im.test(answer.head)) await client.closed
      }
    })
})

function checkForwarded(t: Test, given: HttpCase, origin: Origin): void {
  const count = given.id === 'ok-pipeline2' ? 2 : 1
  t.ok(origin.seen.length <= count, 'it arrived once')
  for (const { rawHeaders, target, trailers } of origin.seen) {
    t.notMatch(target, /admin/)
    const names = rawHeaders.filter((_item, index) => index % 2 === 0)
    // One of our own, with our value, is there in any case.
    const own = rawHeaders.indexOf('X-Service-Verified')
    t.equal(rawHeaders[own + 1], 'true')
    const spellings = [...names, ...trailers]
      .filter((_name, index) => index * 2 !== own)
      .map((name) => name.toLowerCase())
    for (const name of given.must_not_reach_upstream ?? [])
      t.notOk(spellings.includes(name.toLowerCase()), `${name} did not arrive`)
    const [name, value] = given.must_not_reach_upstream_value ?? ['', '']
    const index = names.findIndex((item) => item.toLowerCase() === name.toLowerCase())
    t.not(index === -1 ? null : rawHeaders[index * 2 + 1], value)
    const lengths = spellings.filter((item) => item === 'content-length')
    t.ok(lengths.length <= 1)
  }
}

t.test('responses', async (t) => {
  for (const given of cases.filter(({ side }) => side === 'response'))
    await t.test(`${given.id}: ${given.why}`, async (t) => {
      const origin = await startRawOrigin(t, (socket) => {
        socket.once('data', () => {
          if (given.upstream === 'blackhole') return
          if (given.upstream === 'close') socket.end(given.raw, 'latin1')
          else socket.write(given.raw, 'latin1')
        })
      })
      if (given.upstream === 'refused') origin.stop()
      const wire = await startWire(t, origin.url, {
        upstreamOptions: { timeouts: { connectMs: 200, firstByteMs: 200, idleMs: 200 } },
      })
      const client = new RawClient(wire.port)
      t.teardown(() => client.close())
      client.send('GET /health/echo HTTP/1.1\r\nHost: app.acme.test\r\n\r\n')
      const answer = await client.answer()
      const isRefused = answer === undefined || !answer.isWhole || answer.status >= 500
      const allowed = [given.expect, given.alt].filter((item) => item !== undefined)
      t.ok(
        allowed.some((item) => (item === 'reject') === isRefused),
        `${answer?.status} ${answer?.isWhole ? 'whole' : 'cut'}`,
      )
      t.notMatch(answer?.head ?? '', /x-internal|keep-alive: timeout|proxy-auth/i)
      if (given.id !== 'rs-hop-headers' && given.id !== 'rs-304-cl')
        t.equal(wire.upstream.stats().idle, 0, 'the connection is not used again')
    })
})
