/** A rule takes a proof of who somebody is for so long: what was opened with it ends when it is older. */
import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { rulesOf } from '../../support/access-rules.ts'
import { HOST, startEdge, type EdgeWorld } from '../../support/edge-world.ts'
import { connect, startWebSocketApplication } from '../../support/websockets.ts'
import { listening, RawClient } from '../../support/wire.ts'

const VAULT = rulesOf([
  { path: '/', allow: [{ signed_in: true }] },
  { path: '/vault', allow: [{ max_age: 300 }] },
])
const ENDED = { code: 1008, reason: 'session ended' }

function open(t: Test, edge: EdgeWorld, path: string, cookie = edge.session()): RawClient {
  const client = new RawClient(edge.port)
  t.teardown(() => client.close())
  return client.send(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nCookie: ${cookie}\r\n\r\n`)
}

t.test('a WebSocket ends when its rule asks for a younger proof', async (t) => {
  const application = await startWebSocketApplication(t)
  const edge = await startEdge(t, application.url, { access: VAULT })
  const old = await connect(t, edge, '/vault', { cookie: edge.session({ issuedAgoSeconds: 100 }) })
  const young = await connect(t, edge, '/vault', { cookie: edge.session() })
  const elsewhere = await connect(t, edge, '/', { cookie: edge.session({ issuedAgoSeconds: 100 }) })
  edge.pass(201)
  t.same(await old.closed, ENDED)
  t.equal(young.socket.readyState, young.socket.OPEN)
  edge.put({ name: 'another revision' })
  edge.pass(100)
  t.same(await young.closed, ENDED, 'also where a change of the tenant was in between')
  t.equal(elsewhere.socket.readyState, elsewhere.socket.OPEN, 'no other rule asks for that')
})

t.test('so does an event stream, and no download', async (t) => {
  const server = createServer((request, response) => {
    const isDownload = request.url === '/vault/file'
    response.writeHead(200, isDownload ? { 'content-length': 100 } : {})
    response.write('data: 1\n\n')
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${await listening(server)}`
  const edge = await startEdge(t, url, { access: VAULT }, { idle: 1_000_000 })
  const [stream, file] = [open(t, edge, '/vault/events'), open(t, edge, '/vault/file')]
  let isFileOpen = true
  void file.closed.then(() => (isFileOpen = false))
  for (const client of [stream, file])
    await client.until((received) => received.includes('data: 1'))
  edge.pass(301)
  await stream.closed
  t.notMatch(stream.received, '0\r\n\r\n', 'it does not look whole')
  const late = open(t, edge, '/vault/file', edge.session({ issuedAgoSeconds: 301 }))
  await late.until((received) => received.includes('insufficient_user_authentication'))
  t.ok(isFileOpen, 'what was asked for in time is sent to its end')
})

t.test('by new rules it is judged with all the methods that its headers name', async (t) => {
  const server = createServer((_request, response) => void response.write('data: 1\n\n'))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const signedIn = { allow: [{ signed_in: true as const }] }
  const edge = await startEdge(t, `http://127.0.0.1:${await listening(server)}`, {
    access: rulesOf([{ path: '/', ...signedIn }]),
  })
  const post = (line: string) => {
    const client = new RawClient(edge.port)
    t.teardown(() => client.close())
    const lines = `Host: ${HOST}\r\nCookie: ${edge.session()}\r\nOrigin: ${edge.edgeUrl}\r\n${line}`
    return client.send(`POST /papers HTTP/1.1\r\n${lines}Content-Length: 0\r\n\r\n`)
  }
  const [overridden, plain] = [post('X-HTTP-Method-Override: DELETE\r\n'), post('')]
  for (const client of [overridden, plain])
    await client.until((received) => received.includes('data: 1'))
  const deleting = { path: '/papers', methods: ['DELETE'], ...signedIn, deny: signedIn.allow }
  edge.put({
    access: rulesOf([{ path: '/', ...signedIn }, { path: '/papers', ...signedIn }, deleting]),
  })
  await overridden.closed
  t.notOk(plain.isClosed)
})
