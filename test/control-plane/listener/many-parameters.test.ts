/** A query of thousands of names costs more to read than to send: refused before anybody reads it. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { rawRequest } from '../../support/raw-request.ts'
import { REALM, startListener } from './served.ts'

t.test('a query has as many parameters as any of ours, and no more', async (t) => {
  let handled = 0
  const { port } = await startListener(t, (_request, response) => {
    handled++
    response.end('done')
  })
  const ask = (separators: number) =>
    rawRequest(
      port,
      `GET ${REALM}?${'&'.repeat(separators)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    )
  t.match(await ask(LIMITS.formFieldsMax - 1), / 200 /)
  t.match(await ask(LIMITS.formFieldsMax), /^HTTP\/1.1 400 [^]*"request_invalid"/)
  t.equal(handled, 1)
})
