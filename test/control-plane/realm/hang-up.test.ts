import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { isHangUp } from '../../../control-plane/realm/hang-up.ts'
import { readForm } from '../../../control-plane/realm/form.ts'
import { startListener, REALM } from '../listener/served.ts'

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
