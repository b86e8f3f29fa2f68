import t from 'tap'
import { sendTarball } from '../../../control-plane/api/download-routes.ts'

t.test('a download is sent as it lies in memory, not as a copy for each who asks', async (t) => {
  const bytes = Buffer.from('a package')
  const sent: unknown[] = []
  const c = { req: { header: () => undefined } }
  const download = { bytes, etag: '"e"', sha256: 'ab' }
  await sendTarball(c as never, download, 'a.tgz', async (_c, what) => {
    sent.push(what)
    return new Response('')
  })
  t.equal(sent[0], bytes)
})
