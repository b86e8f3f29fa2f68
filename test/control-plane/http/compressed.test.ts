import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { compressed, encodedFor } from '../../../control-plane/http/compressed.ts'
import { startConsole } from '../../support/console.ts'
import { startApi } from '../../support/api.ts'

t.test('each asks for a coding and gets one that they named, or none', async (t) => {
  const document = compressed('the same for everybody '.repeat(100))
  const codingFor = async (accepted?: string) =>
    (await encodedFor(document, accepted)).headers['Content-Encoding'] ?? 'identity'
  for (const [accepted, coding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=0.0', 'identity'],
    ['deflate', 'identity'],
    ['xbr, gzipped', 'identity'],
    ['', 'identity'],
  ] as const)
    t.equal(await codingFor(accepted), coding, accepted)
  t.equal(await codingFor(), 'identity')
  t.equal(await document('br'), await document('br'), 'made once')
  const whole = (await document('identity')).toString()
  t.equal(brotliDecompressSync(await document('br')).toString(), whole)
  t.equal(gunzipSync(await document('gzip')).toString(), whole)
})

t.test('the documents of the API are small on their way', async (t) => {
  const { app } = await startApi(t)
  const bytesOf = async (path: string, coding: string) => {
    const headers = { 'accept-encoding': coding, accept: 'text/html' }
    const answer = await app.request(path, { headers }, { address: '127.0.0.1' })
    t.equal(answer.headers.get('content-encoding'), coding === '' ? null : coding, path)
    t.match(answer.headers.get('vary'), /Accept-Encoding/, path)
    const bytes = (await answer.arrayBuffer()).byteLength
    t.equal(answer.headers.get('content-length'), String(bytes), path)
    return bytes
  }
  for (const path of ['/api/v1/docs', '/api/v1/openapi.json', '/api/v1/events'])
    for (const coding of ['gzip', 'br']) {
      const bytes = await bytesOf(path, coding)
      t.ok(bytes < 80_000, `${path} ${coding}: ${bytes}`)
      t.comment(`${path} ${coding}: ${bytes} of ${await bytesOf(path, '')}`)
    }
})

t.test('no page of the console is, whoever reads it: there are secrets on them', async (t) => {
  const { routes, ask, person } = await startConsole(t)
  const { cookie } = await person('operator')
  const headers = { 'accept-encoding': 'gzip, br' }
  let count = 0
  for (const { declaration } of routes) {
    const path = declaration.path.replaceAll('{tenant_id}', 'acme')
    if (declaration.method !== 'GET' || path.includes('{')) continue
    count += 1
    for (const reader of [cookie, '']) {
      const answer = await ask(path, reader, { headers })
      t.equal(answer.headers.get('content-encoding'), null, path)
    }
  }
  t.ok(count > 30)
})
