/** An application that breaks off at any byte of its answer, behind the real gateway and its TLS. */
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import { askEveryCut, startCutOrigin, type Outcome } from '../../test/support/cut-answers.ts'
import { LIVE_HOST, startLiveGateway } from '../../test/support/live-gateway.ts'
import { freePort } from '../../test/support/ports.ts'
import { answerOf } from '../../test/support/secure-wire.ts'
import { createTestAuthority } from '../../test/support/test-certificates.ts'
import { RawClient } from '../../test/support/wire.ts'
import type { Scope } from './scope.ts'

const HANG_MS = 10_000

export async function measureCuts(scope: Scope) {
  const origin = await startCutOrigin(scope)
  const authority = createTestAuthority(scope)
  const tlsPort = await freePort()
  const gateway = await startLiveGateway(scope, {
    origin: origin.url,
    config: `  tls_listen: 127.0.0.1:${tlsPort}`,
    tenant: { certificates: [authority.issue(LIVE_HOST)], excluded: ['/cut', '/fine'] },
  })
  let client = new RawClient(gateway.port)
  const overHttp1 = async (path: string): Promise<Outcome | undefined> => {
    client.send(gateway.head(path))
    const answer = await client.answer()
    if (answer?.isWhole === true) return answer
    client.close()
    client = new RawClient(gateway.port)
    return answer
  }
  const socket = connectTls({
    port: tlsPort,
    host: '127.0.0.1',
    servername: LIVE_HOST,
    ca: authority.caPem,
    ALPNProtocols: ['h2'],
  })
  const session = connectHttp2(`https://${LIVE_HOST}:${tlsPort}`, {
    createConnection: () => socket,
  })
  scope.teardown(() => session.destroy())
  const overHttp2 = async (path: string): Promise<Outcome> => {
    const { status, rstCode } = await answerOf(session.request({ ':path': path }))
    return { status, isWhole: rstCode === 0 }
  }
  for (const [name, ask] of Object.entries({ 'HTTP/1.1': overHttp1, 'HTTP/2': overHttp2 })) {
    let hung = 0
    const counts = await askEveryCut(origin, async (path) => {
      const impatience = setTimeout(() => hung++, HANG_MS)
      const outcome = await ask(path)
      clearTimeout(impatience)
      return outcome
    })
    console.log(
      `  ${name}: ${counts.cases} cuts: ${counts.refused} answered 502, ${counts.cut} cut off, ` +
        `${counts.wrong.length} wrong, ${hung} took over ${HANG_MS / 1000} s; each next request answered`,
    )
    for (const line of counts.wrong) console.log(`    ${line}`)
  }
  client.close()
}
