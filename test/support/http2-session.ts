/** A session of HTTP/2 in the clear to a listener that is given, closed with the test. */
import { connect, createServer, type ClientHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export async function http2SessionTo(t: Test, listener: unknown): Promise<ClientHttp2Session> {
  const server = createServer(listener as never)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.teardown(() => {
    session.destroy()
    server.close()
  })
  return session
}
