/** A sign-in is one trace: the gateway hands its own on to the realm that it exchanges the code at. */
import { createServer } from 'node:http'
import t from 'tap'
import { request } from 'undici'
import { traceIdOf } from '../../../shared/trace-context.ts'
import { HOST, startEdge } from '../../support/edge-world.ts'
import { listening, startOrigin } from '../../support/wire.ts'

const GIVEN = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

void t.test('the exchange is part of the trace of the request that brings the code', async (t) => {
  const asked: { url: string; traceparent: string | undefined }[] = []
  let issuer = ''
  const realm = createServer(({ url = '', headers }, response) => {
    asked.push({ url, traceparent: headers['traceparent'] as string | undefined })
    response.setHeader('content-type', 'application/json')
    if (url.endsWith('/token')) return void response.writeHead(400).end('{"error":"invalid_grant"}')
    const places = ['authorization', 'token'].map((name) => [
      `${name}_endpoint`,
      `${issuer}/${name}`,
    ])
    response.end(JSON.stringify({ issuer, ...Object.fromEntries(places) }))
  })
  issuer = `http://127.0.0.1:${await listening(realm)}/auth/realms/app`
  t.teardown(() => {
    realm.closeAllConnections()
    realm.close()
  })
  const edge = await startEdge(t, (await startOrigin(t)).url, { issuer })
  const ask = (path: string, headers: Record<string, string> = {}) =>
    request(`http://127.0.0.1:${edge.port}${path}`, { headers: { host: HOST, ...headers } })
  async function comeBack(traceparent?: string) {
    const begun = await ask('/service/login')
    await begun.body.dump()
    const state = new URL(String(begun.headers['location'])).searchParams.get('state') ?? ''
    const cookie = [begun.headers['set-cookie'] ?? []].flat().map((one) => one.split(';')[0])
    const headers = { cookie: cookie.join('; '), ...(traceparent && { traceparent }) }
    await (await ask(`/service/callback?code=c&state=${state}`, headers)).body.dump()
  }
  await Promise.all([comeBack(GIVEN), comeBack()])
  await comeBack('no trace')
  const exchanges = asked.filter(({ url }) => url.endsWith('/token'))
  t.equal(exchanges.length, 3)
  const traces = exchanges.map(({ traceparent = '' }) => traceIdOf(traceparent))
  t.ok(exchanges.some(({ traceparent }) => traceparent === GIVEN))
  const lines = edge.lines.filter(({ path }) => String(path).startsWith('/service/callback'))
  t.same(lines.map((line) => line['trace_id']).sort(), traces.toSorted(), 'each has its own')
  t.equal(new Set(traces).size, 3)
  const others = asked.filter(({ url }) => !url.endsWith('/token'))
  t.same(
    others.map(({ traceparent }) => traceparent),
    others.map(() => undefined),
    'what is asked for all of them is nobody’s',
  )
})
