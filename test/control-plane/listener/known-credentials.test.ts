/** Who is known at the door: only who showed the same before, and was let in by it. */
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import {
  createKnownCredentials,
  noteGood,
} from '../../../control-plane/listener/known-credentials.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { REALM, startListener } from './served.ts'

const showing = (headers: IncomingMessage['headers']) => ({ headers }) as IncomingMessage

t.test('a key or a cookie is known once it was found good, and for so long', (t) => {
  const clock = movableClock()
  const { isKnown } = createKnownCredentials({ clock })
  const [good, forged] = [{ cookie: 'session=good' }, { cookie: 'session=forged' }]
  const request = showing(good)
  t.notOk(isKnown(request))
  t.notOk(isKnown(showing(good)), 'nobody has found it good')
  noteGood(request)
  t.ok(isKnown(showing(good)))
  t.notOk(isKnown(showing(forged)))
  t.notOk(isKnown(showing({ authorization: 'session=good' })), 'shown as something else')
  t.notOk(isKnown(showing({ ...good, authorization: 'Bearer x' })))
  clock.advance(LIMITS.knownCredentialMsMax)
  t.ok(isKnown(showing(good)))
  clock.advance(1)
  t.notOk(isKnown(showing(good)))
  t.end()
})

t.test('who shows nothing is nobody, whoever says otherwise', (t) => {
  const { isKnown } = createKnownCredentials({ clock: movableClock() })
  const request = showing({})
  t.notOk(isKnown(request))
  noteGood(request)
  noteGood(undefined)
  t.notOk(isKnown(showing({})))
  t.end()
})

t.test('N are remembered; the one that was not shown for the longest goes', (t) => {
  const { isKnown } = createKnownCredentials({ clock: movableClock(), max: 2 })
  const requests = ['a', 'b', 'c'].map((cookie) => showing({ cookie }))
  for (const request of requests) {
    isKnown(request)
    noteGood(request)
  }
  t.same(requests.map(isKnown), [false, true, true])
  t.equal(LIMITS.knownCredentialsMax, 20_000)
  t.end()
})

t.test('whoever the console or the API lets in is found good, and nobody else', async (t) => {
  const { app, services, person } = await startConsole(t)
  const ada = await person('acme')
  const { isKnown } = createKnownCredentials({ clock: services.clock })
  const { secret: plain } = await services.tenants.showAnalyzerKey('acme', ACTOR)
  const ask = async (path: string, headers: Record<string, string>) => {
    const incoming = showing(headers)
    isKnown(incoming)
    await app.request(services.baseUrl + path, { headers }, { address: '192.0.2.1', incoming })
    return isKnown(showing(headers))
  }
  const page = '/console/tenants/acme/users'
  t.equal(await ask(page, { cookie: ada.cookie }), true)
  t.equal(await ask(page, { cookie: ada.cookie.replace(/=...../, '=AAAAA') }), false)
  const status = '/api/v1/verify/status'
  t.equal(await ask(status, { authorization: `Bearer ${plain}` }), true)
  t.equal(await ask(status, { authorization: `Bearer ${plain}x` }), false)
})

t.test('on the wire: forged cookies wait behind one that was found good', async (t) => {
  const order: string[] = []
  const { server, port } = await startListener(t, (request, response) => {
    order.push(request.url!.slice(REALM.length + 1))
    if (request.headers.cookie === 'session=good') noteGood(request)
    response.end()
  })
  /** All in one turn of the event loop, each on its own connection. */
  async function ask(cookies: readonly string[]) {
    const sockets: Socket[] = []
    for (const _cookie of cookies) {
      const accepted = once(server, 'connection')
      const socket = connect(port, '127.0.0.1')
      t.teardown(() => socket.destroy())
      await Promise.all([accepted, once(socket, 'connect')])
      sockets.push(socket)
    }
    await new Promise(setImmediate) // the last is listened to as well
    const answers = sockets.map((socket) => once(socket, 'data'))
    for (const [at, socket] of sockets.entries()) {
      const fields = `Host: a\r\nCookie: session=${cookies[at]}`
      socket.write(`GET ${REALM}/${cookies[at]}${at} HTTP/1.1\r\n${fields}\r\n\r\n`)
    }
    await Promise.all(answers)
    return order.splice(0)
  }
  const forged = ['a', 'b', 'c', 'd', 'e', 'f']
  t.same(await ask([...forged, 'good']), ['a0', 'b1', 'c2', 'd3', 'e4', 'f5', 'good6'])
  t.same(await ask([...forged, 'good']), ['a0', 'b1', 'good6', 'c2', 'd3', 'e4', 'f5'])
})
