import t from 'tap'
import { sendTarball } from '../../../control-plane/api/download-routes.ts'

t.test('a download is sent as it lies in memory, not as a copy for each who asks', async (t) => {
  const bytes = Buffer.from('a package')
  let sent: unknown
  const c = {
    req: { header: () => undefined },
    body: (body: unknown) => {
      sent = body
      return new Response('')
    },
  }
  sendTarball(c as never, { bytes, etag: '"e"', sha256: 'ab' }, 'a.tgz')
  t.equal(sent, bytes)
})
