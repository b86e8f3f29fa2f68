/** Sign-ins that were begun and left: each has left a cookie, and a few at a time they go. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { HOST, startEdge } from '../../support/edge-world.ts'
import { startFeedService } from '../../support/feed-service.ts'
import { RawClient, startOrigin } from '../../support/wire.ts'

t.test('an answer ends so many cookies of sign-ins, and the next ones the rest', async (t) => {
  const origin = await startOrigin(t)
  const { issuer } = await startFeedService(t)
  const edge = await startEdge(t, origin.url, { issuer })
  const jar = new Set(Array.from({ length: 150 }, (_item, at) => `service_flow_0${at + 100}`))
  let answers = 0
  for (; jar.size > LIMITS.flowCookiesMax; answers++) {
    const client = new RawClient(edge.port)
    const cookie = [...jar].map((name) => `${name}=x`).join('; ')
    client.send(`GET /service/login HTTP/1.1\r\nHost: ${HOST}\r\nCookie: ${cookie}\r\n\r\n`)
    const { head = '', status } = (await client.answer()) ?? {}
    client.close()
    t.equal(status, 302)
    const lines = [...head.matchAll(/^Set-Cookie: (service_flow_[^=]+)=.*?Max-Age=(\d+)/gm)]
    t.ok(lines.length <= LIMITS.strayCookiesMax + 1, `${lines.length} lines`)
    for (const [, name = '', maxAge] of lines)
      if (maxAge === '0') jar.delete(name)
      else jar.add(name)
    if (answers > 20) break
  }
  t.ok(answers <= 6, `${answers} answers`)
})
