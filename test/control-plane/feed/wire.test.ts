import { request } from 'undici'
import t from 'tap'
import { basic } from '../../support/feed-api.ts'
import { startPublicServer } from '../../support/public-server.ts'
import { rawRequest } from '../../support/raw-request.ts'

void t.test(
  'on the wire a 304 is a head alone, and the next poll goes over the same connection',
  async (t) => {
    const { tenant, operator, port, baseUrl } = await startPublicServer(t)
    const { client_secret } = await tenant('acme', { mode: 'sdk' })
    await operator('POST', '/tenants/acme/publish')
    const authorization = basic('acme-user', client_secret)
    const url = `${baseUrl}/api/v1/enforcement/state`
    const first = await request(url, { headers: { authorization } })
    t.equal(first.statusCode, 200)
    const text = await first.body.text()
    t.equal(Number(first.headers['content-length']), Buffer.byteLength(text))
    const etag = String(first.headers['etag'])

    const head = `GET /api/v1/enforcement/state HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n`
    const poll = `${head}If-None-Match: "x"\r\nIf-None-Match: W/${etag}\r\n`
    const answer = await rawRequest(port, `${poll}\r\n${poll}Connection: close\r\n\r\n`)
    const [one = '', two = '', ...rest] = answer.split('\r\n\r\n')
    for (const answered of [one, two]) {
      t.match(answered, /^HTTP\/1\.1 304 Not Modified\r\n/)
      t.match(answered.toLowerCase(), `etag: ${etag}`.toLowerCase())
      t.notMatch(answered, /\r\n(?:content-(?:length|type)|transfer-encoding):/i)
    }
    t.same(rest, [''], 'nothing behind them')
  },
)
