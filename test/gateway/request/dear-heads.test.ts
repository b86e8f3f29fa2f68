/** Whatever anybody writes into a head, it costs what it is long: nothing in here is looked at with its square. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { HOST, startEdge } from '../../support/edge-world.ts'
import { RawClient, startOrigin } from '../../support/wire.ts'

const NAMES = [
  'Accept',
  'Accept-Language',
  'Authorization',
  'Cookie',
  'Expect',
  'Origin',
  'Referer',
  'Sec-Fetch-Mode',
  'Sec-Fetch-Site',
  'Sec-WebSocket-Key',
  'Sec-WebSocket-Version',
  'TE',
  'traceparent',
  'Upgrade',
  'User-Agent',
  'X-Forwarded-For',
  'X-HTTP-Method-Override',
  'X-Request-Id',
  'X-Requested-With',
]
const NAVIGATION = 'Sec-Fetch-Mode: navigate\r\nAccept: text/html\r\n'
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
const KINDS: Readonly<Record<string, readonly [path: string, lines: string]>> = {
  'to be answered by a page': ['/admin', NAVIGATION],
  'to be sent to the sign-in': ['/', NAVIGATION],
  'of the service’s own': ['/service/logout', NAVIGATION],
  'that open a WebSocket': ['/health', UPGRADE],
  'that are none': ['/', `${NAVIGATION}no line\r\n`],
}
const LONG = LIMITS.headBytesMax - 600
const VALUES = [
  `a${' '.repeat(LONG)}b`,
  `a${'\t'.repeat(LONG)}b`,
  'a-'.repeat(LONG / 2),
  ', '.repeat(LONG / 2),
]
/** With a walk for each blank it is a hundred and more, of 15 KB. */
const CPU_MS_MAX = 60

for (const [name, [path, lines]] of Object.entries(KINDS))
  t.test(`no header makes requests dear ${name}`, async (t) => {
    const origin = await startOrigin(t)
    const edge = await startEdge(t, origin.url)
    const cpuMs = async (line: string) => {
      const client = new RawClient(edge.port)
      const before = process.cpuUsage()
      client.send(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\n${line}${lines}\r\n`)
      await client.answer()
      const { user, system } = process.cpuUsage(before)
      client.close()
      return (user + system) / 1000
    }
    await cpuMs('')
    for (const header of NAMES)
      for (const value of VALUES) {
        const line = `${header}: ${value}\r\n`
        let least = await cpuMs(line)
        for (let more = 2; more > 0 && least > CPU_MS_MAX; more--)
          least = Math.min(least, await cpuMs(line))
        if (least > CPU_MS_MAX) t.fail(`${header}: ${value.slice(0, 4)}…: ${least} ms`)
      }
    t.pass('as long as they are')
  })
