import { once } from 'node:events'
import { connect } from 'node:net'
import { pino } from 'pino'
import t from 'tap'
import { isHangUp } from '../../../control-plane/listener/hang-up.ts'
import { readForm } from '../../../control-plane/http/form.ts'
import { OPERATOR_KEY } from '../../support/api.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { until } from '../../support/fleet.ts'
import { startListener, REALM } from './served.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'

t.test('a client that leaves amid its form is no failure of ours, all else is', async (t) => {
  const caught = Promise.withResolvers<readonly boolean[]>()
  const { port } = await startListener(t, async (request) => {
    client.resetAndDestroy()
    const fault = new Error('ours')
    const before = isHangUp(Object.assign(new Error('read'), { code: 'ECONNRESET' }), request)
    await readForm(request).catch((error: unknown) =>
      caught.resolve([before, isHangUp(error, request), isHangUp(fault, request)]),
    )
  })
  const client = connect(port, '127.0.0.1')
  client.on('error', () => undefined)
  await once(client, 'connect')
  client.write(
    `POST ${REALM}/authorize HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n` +
      'Content-Type: application/x-www-form-urlencoded\r\n\r\na=',
  )
  t.strictSame(await caught.promise, [false, true, false])
})

t.test('a link of a mail that a mail program follows is in no log', async (t) => {
  const { port, lines } = await startListener(t, () => undefined)
  const token = 'acme.c3RvcC10b2tlbg'
  await fetch(`http://127.0.0.1:${port}/console/alert-emails/stop/${token}`, { method: 'POST' })
  await until(() => lines.length > 0)
  t.match(lines, [{ msg: 'request', path: '/console/alert-emails/stop/…' }])
  t.notMatch(JSON.stringify(lines), token)
})

const FORM = 'application/x-www-form-urlencoded'

for (const [what, path, type] of [
  ['the API', '/api/v1/operator/tenants', 'application/json'],
  ['the console', '/console/tenants/new', FORM],
  ['a realm', '/auth/realms/acme/authorize', FORM],
] as const)
  t.test(`what leaves amid a request to ${what} is no error in the log`, async (t) => {
    const lines: { level: number; msg: string }[] = []
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as never) })
    const { services, app } = await startConsole(t, { log })
    await services.tenants.publish('acme', ACTOR)
    const { realms } = services
    const { port } = await startListener(t, realms.handle, {
      app: app,
      realms,
      log,
      operatorKey: createLiveKey(OPERATOR_KEY),
    })
    const client = connect(port, '127.0.0.1')
    client.on('error', () => undefined)
    await once(client, 'connect')
    client.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost:8080\r\nOrigin: http://localhost:8080\r\n` +
        `Authorization: Bearer ${OPERATOR_KEY}\r\nContent-Type: ${type}\r\n` +
        'Content-Length: 100\r\n\r\n{"a',
    )
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate)
    client.resetAndDestroy()
    await until(() => lines.some(({ msg }) => msg === 'request'))
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate)
    t.same(
      lines.filter(({ level }) => level >= 50),
      [],
    )
  })
