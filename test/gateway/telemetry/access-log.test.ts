import t from 'tap'
import { decimals, escaped } from '../../../gateway/telemetry/access-log.ts'
import { createLineWriter, createLogSink } from '../../../gateway/telemetry/line-writer.ts'
import { startEdge } from '../../support/edge-world.ts'
import { until } from '../../support/fleet.ts'
import { RawClient, startOrigin } from '../../support/wire.ts'

t.test('whatever a path holds, a line is one line of valid JSON and of ASCII', async (t) => {
  const all = Array.from({ length: 256 }, (_item, code) => String.fromCharCode(code)).join('')
  for (const text of [
    all,
    '/"quoted"',
    '/back\\slash',
    '/\n{"forged":true}',
    '/\u00e4',
    '/plain',
  ]) {
    const line = `{"path":"${escaped(text)}"}`
    t.equal((JSON.parse(line) as { path: string }).path, text)
    t.match(line, /^[\x20-\x7e]+$/)
  }
  t.equal(escaped('a'.repeat(1024)).length, 1024)
  t.equal(escaped('a'.repeat(1025)).length, 1024 + 3, 'cut, and it shows')
  t.ok(escaped('\u00ff'.repeat(5000)).length < 2000, 'escaping does not make it long')
})

t.test('times have three decimals', async (t) => {
  for (const [ms, text] of [
    [0, '0.000'],
    [0.0004, '0.000'],
    [1.25, '1.250'],
    [12.3456, '12.346'],
    [1999.9999, '2000.000'],
    [-0.2, '0.000'],
  ] as const)
    t.equal(decimals(ms), text)
})

t.test('lines go out whole, in order, in batches that a pipe keeps together', async (t) => {
  const written: string[] = []
  const writer = createLineWriter({
    write(text, done) {
      written.push(text)
      setImmediate(() => done(null, text.length))
    },
  })
  const lines = Array.from({ length: 100 }, (_item, index) => `${index} ${'x'.repeat(200)}\n`)
  for (const line of lines) writer.add(line)
  await writer.close()
  t.equal(written.join(''), lines.join(''))
  for (const batch of written) t.ok(batch.length <= 4096 && batch.endsWith('\n'))
  t.ok(written.length <= 7)
})

t.test('lines wait until they are worth waking whoever reads', async (t) => {
  const written: string[] = []
  const writer = createLineWriter({
    write(text, done) {
      written.push(text)
      setImmediate(() => done(null, text.length))
    },
  })
  const line = `${'x'.repeat(1023)}\n`
  for (let count = 0; count < 64; count++) writer.add(line)
  t.equal(written.length, 0, '64 KiB of them are held back')
  writer.add(line)
  await until(() => written.length === 16)
  t.equal(written.join(''), line.repeat(64), 'and go out one behind the other with the next')
  await writer.close()
  t.equal(written.join(''), line.repeat(65))
})

t.test('a file gets larger writes, and a line that fits into none goes alone', async (t) => {
  const written: string[] = []
  const writer = createLineWriter({
    batchCharacters: 1000,
    writeCharacters: 1000,
    write(text, done) {
      written.push(text)
      setImmediate(() => done(null, text.length))
    },
  })
  const lines = [300, 300, 400, 1, 2000, 5].map((length) => `${'x'.repeat(length - 1)}\n`)
  for (const line of lines) writer.add(line)
  await writer.close()
  t.equal(written.join(''), lines.join(''))
  t.same(
    written.map(({ length }) => length),
    [1000, 1, 2000, 5],
  )
})

t.test('what is written in part is finished, and a full pipe is tried again', async (t) => {
  let written = ''
  let refusals = 3
  const writer = createLineWriter({
    write(text, done) {
      if (refusals-- > 0) return void setImmediate(() => done(new FullPipe(), 0))
      written += text.slice(0, 7)
      setImmediate(() => done(null, Math.min(7, text.length)))
    },
  })
  writer.add('a line that is longer than seven characters\n')
  await writer.close()
  t.equal(written, 'a line that is longer than seven characters\n')
  t.equal(writer.dropped(), 0)
})

t.test('when nobody reads, lines are dropped and counted, up to the very character', async (t) => {
  let release: (() => void) | undefined
  const writer = createLineWriter({
    heldMax: 8192,
    batchCharacters: 4096,
    write(text, done) {
      release = () => done(null, text.length)
    },
  })
  const line = `${'x'.repeat(1023)}\n`
  for (let count = 0; count < 8; count++) writer.add(line)
  t.equal(writer.dropped(), 0, 'as many as may be held')
  writer.add('\n')
  t.equal(writer.dropped(), 1, 'and not one more')
  release?.()
  writer.add(line)
  t.equal(writer.dropped(), 1, 'when somebody reads again, it goes on')
})

t.test('a pipe that is gone loses its lines and nothing else', async (t) => {
  const writer = createLineWriter({
    write: (_text, done) => setImmediate(() => done(new GonePipe(), 0)),
  })
  writer.add('one\n')
  writer.add('two\n')
  await writer.close()
  t.equal(writer.dropped(), 2)
})

t.test('a process that ends writes what is taken at once, and waits for nobody', async (t) => {
  let written = ''
  let room = 30
  const writer = createLineWriter({
    write: (_text, done) => setImmediate(() => done(new FullPipe(), 0)),
    writeNow(text) {
      if (room === 0) throw new FullPipe()
      const taken = text.slice(0, Math.min(room, 20))
      room -= taken.length
      written += taken
      return taken.length
    },
  })
  writer.add('one line of some twenty-five\n')
  writer.endNow()
  t.equal(written, 'one line of some twenty-five\n', 'in as many pieces as it takes')
  writer.add('two\n')
  writer.endNow()
  t.equal(written, 'one line of some twenty-five\nt')
})

t.test('a sink for people has the same fields', async (t) => {
  const entries: Record<string, unknown>[] = []
  const sink = createLogSink((entry) => entries.push(entry))
  sink.add('{"level":30,"time":1,"program":"gateway","kind":"request","status":200}\n')
  t.same(entries, [{ kind: 'request', status: 200 }])
  t.equal(sink.dropped(), 0)
})

t.test('a line tells who, what and why, and how long each of us took', async (t) => {
  const origin = await startOrigin(t)
  const edge = await startEdge(t, origin.url)
  const ask = async (head: string) => {
    const client = new RawClient(edge.port)
    client.send(head)
    await client.answer()
    client.close()
  }
  const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const who = `Host: app.localhost\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0\r\nCookie: ${edge.session()}\r\n`
  await ask(`GET /work?api_key=hush HTTP/1.1\r\n${who}traceparent: ${trace}\r\n\r\n`)
  await ask('GET /work?api_key=hush HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
  await ask('GET /work?api_key=hush HTTP/1.1\r\nHost: elsewhere.localhost\r\n\r\n')
  const [forwarded, refused, unknown] = edge.lines.filter(({ kind }) => kind === 'request')
  t.match(forwarded, {
    tenant_id: 'app',
    method: 'GET',
    host: 'app.localhost',
    path: '/work',
    decision: 'forward',
    reason: 'session',
    status: 200,
    client: '127.0.0.1',
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    request_id: /^[\w-]+$/,
    bytes: Number,
    ms: Number,
    upstream_ms: Number,
  })
  t.ok(Number(forwarded?.['ms']) >= Number(forwarded?.['upstream_ms']))
  t.match(refused, { decision: 'sign_in', reason: 'no_session', status: 401 })
  t.notOk(refused?.['upstream_ms'])
  t.match(unknown, { decision: 'refuse', reason: 'host_unknown', status: 404, path: '/work' })
  t.notMatch(JSON.stringify(edge.lines), /hush|service_session|service_seen/)
})

t.test('the sample spares what went well and never what did not', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    response.statusCode = request.url === '/broken' ? 500 : 200
    response.end()
  })
  const edge = await startEdge(t, origin.url, {}, {}, { accessLogSample: 0 })
  const paths: string[] = []
  const ask = async (path: string, cookie: string) => {
    const client = new RawClient(edge.port)
    client.send(
      `GET ${path} HTTP/1.1\r\nHost: app.localhost\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0\r\n${cookie}\r\n`,
    )
    const answer = await client.answer()
    paths.push(`${path} ${answer?.status}`)
    client.close()
  }
  const cookie = `Cookie: ${edge.session()}\r\n`
  await ask('/fine', cookie)
  await ask('/broken', cookie)
  await ask('/nobody', '')
  await ask('/admin', cookie)
  await ask('/service/login', '')
  t.match(paths[0], '/fine 200')
  const told = edge.lines.filter(({ kind }) => kind === 'request').map(({ path }) => path)
  t.same(told, ['/broken', '/nobody', '/admin', '/service/login'])
  const [fine, broken] = origin.seen.map(({ rawHeaders }) => {
    const at = rawHeaders.indexOf('traceparent')
    return rawHeaders[at + 1]
  })
  t.match(fine, /-00$/, 'and the trace says that nothing of it is kept here')
  t.match(broken, /-00$/)
})

class FullPipe extends Error {
  readonly code = 'EAGAIN'
}
class GonePipe extends Error {
  readonly code = 'EPIPE'
}
