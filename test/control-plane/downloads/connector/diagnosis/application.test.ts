import t from 'tap'
import { lookAtApplication } from '../../../../../control-plane/downloads/connector/diagnosis/application.ts'
import { startRawOrigin } from '../../../../support/wire.ts'

t.test('an application that answers with another protocol is told of at once', async (t) => {
  const { url } = await startRawOrigin(t, (socket) => {
    socket.once('data', () =>
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
      ),
    )
  })
  const never = new AbortController()
  const finding = await lookAtApplication({
    ...{ origin: url, ca: undefined, nowMs: () => 0, signal: never.signal },
  })
  t.match(finding, { cause: 'answer', detail: /answers an ordinary request with 101/ })
})
