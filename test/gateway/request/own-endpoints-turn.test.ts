/** A sign-in costs many times what an ordinary request does, and anybody may ask for one. */
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { HOST, startEdge } from '../../support/edge-world.ts'
import { startSecureEdge } from '../../support/secure-edge.ts'
import { RawClient, startOrigin } from '../../support/wire.ts'

const REQUESTS = LIMITS.requestsPerTurnMax
/** As the counter of a turn and the one here may be out of step. */
const MOST = (2 * LIMITS.requestsPerTurnMax) / LIMITS.ownEndpointRequests

async function mostInOneTurn(answered: () => number): Promise<number> {
  let most = 0
  for (let before = answered(); before < REQUESTS;) {
    await turn()
    most = Math.max(most, answered() - before)
    before = answered()
  }
  return most
}

t.test('of those to our own addresses a site begins fewer in a turn', async (t) => {
  const origin = await startOrigin(t)
  const edge = await startEdge(t, origin.url)
  const client = new RawClient(edge.port)
  t.teardown(() => client.close())
  const head = `Host: ${HOST}\r\nContent-Length: 0\r\n\r\n`
  client.send(`POST /service/logout HTTP/1.1\r\n${head}`.repeat(REQUESTS))
  const most = await mostInOneTurn(() => edge.lines.length)
  t.ok(most <= MOST, `${most} in one turn`)
  for (let at = 0; at < REQUESTS; at++) t.equal((await client.answer('POST'))?.status, 200)
})

t.test('over HTTP/2 as well', async (t) => {
  const origin = await startOrigin(t)
  const edge = await startSecureEdge(t, origin.url)
  const session = await edge.http2()
  const asking = { ':method': 'POST', ':path': '/service/logout', ':authority': HOST }
  const asked = Array.from({ length: REQUESTS }, () => {
    const stream = session.request(asking)
    stream.resume().end()
    return new Promise((resolve) => stream.once('close', resolve))
  })
  const most = await mostInOneTurn(() => edge.lines.length)
  t.ok(most <= MOST, `${most} in one turn`)
  await Promise.all(asked)
})
