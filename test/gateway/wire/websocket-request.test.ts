/** The values of lines, which come from anybody. */
import t from 'tap'
import { faultOfAgreement } from '../../../gateway/upgrade/accepted.ts'
import { askerOfFields, askerOfText } from '../../../gateway/wire/asker.ts'
import { opensWebSocket, valuesOf } from '../../../gateway/wire/websocket-request.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { languageOf } from '../../../shared/sign-in/language.ts'
import type { IncomingMessage } from 'node:http'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='

t.test('values are found by name, without the blanks around them', async (t) => {
  const lines = 'Origin: a\r\nX: 1\r\norigin:\t b c \t\r\nOrigin:\r\n'
  t.same(valuesOf(lines, 'origin'), ['a', 'b c', ''])
  t.ok(opensWebSocket(`Sec-WebSocket-Key:  ${KEY} \r\nSec-WebSocket-Version:13\r\n`))
})

/** What takes one walk is done with a hundred of these at once; with a walk for each blank, in minutes. */
function timed(run: () => unknown): number {
  const begun = performance.now()
  for (let count = 0; count < 100; count++) run()
  return performance.now() - begun
}
const IN_TIME_MS = 2000

for (const blank of [' ', '\t'])
  t.test(
    `a run of ${JSON.stringify(blank)} costs what it is long, and not its square`,
    async (t) => {
      const long = `a${blank.repeat(LIMITS.headBytesMax - 100)}b`
      t.ok(timed(() => valuesOf(`Origin: ${long}\r\n`, 'origin')) < IN_TIME_MS)
      t.ok(timed(() => opensWebSocket(`Sec-WebSocket-Key: ${long}\r\n`)) < IN_TIME_MS)
      const rawHeaders = ['Upgrade', 'websocket', 'Connection', `${long}, Upgrade`]
      const answer = { rawHeaders } as IncomingMessage
      t.ok(timed(() => faultOfAgreement(answer, KEY)) < IN_TIME_MS)
      t.equal(faultOfAgreement(answer, KEY), 'wrong Sec-WebSocket-Accept')
      t.ok(timed(() => languageOf(long)) < IN_TIME_MS)
      const head = `GET / HTTP/1.1\r\nAccept:${blank}text/html${blank}\r\nAccept-Language: ${long}\r\n`
      t.ok(timed(() => askerOfText(head)) < IN_TIME_MS)
      t.same(askerOfText(head), { isPerson: true, acceptLanguage: long })
      t.ok(timed(() => askerOfFields([':method', 'GET', 'accept', long])) < IN_TIME_MS)
    },
  )

t.test('a language that is longer than any is none', async (t) => {
  t.equal(languageOf('de-AT-1996, en'), 'de')
  t.equal(languageOf(`de${'-a'.repeat(9)}, en`), 'en')
})
