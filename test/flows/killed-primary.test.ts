import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'
import t from 'tap'
import { alpnFor } from '../../shared/connector/handshake.ts'
import { PINNED_TLS } from '../../shared/connector/pinned-tls.ts'
import { until } from '../support/fleet.ts'
import { childrenOf, startLiveGateway } from '../support/live-gateway.ts'
import { freePort } from '../support/ports.ts'

function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

t.test('workers end with their primary, also while a connection is on its way to it', async (t) => {
  const port = await freePort()
  const gateway = await startLiveGateway(t, {
    origin: 'http://shop.internal',
    workers: 2,
    config: `  tls_listen: 127.0.0.1:${port}\n  connect_address: 127.0.0.1:${port}`,
    tenant: { mode: 'connector', connectors: [] },
  })
  const { child: primary } = gateway.program
  const workers = childrenOf(primary.pid!)
  t.equal(workers.length, 2)
  t.teardown(() => workers.filter(isRunning).forEach((pid) => process.kill(pid, 'SIGKILL')))
  // It takes nothing more: whoever comes to the wrong worker is on the way from one to the other.
  primary.kill('SIGSTOP')
  let greeted = 0
  for (const worker of Array.from({ length: 40 }, (_, at) => 1 + (at % 2))) {
    const ALPNProtocols = alpnFor({ worker, use: undefined })
    const socket = connect({ ...PINNED_TLS, host: '127.0.0.1', port, ALPNProtocols })
    socket.on('error', () => {}).once('data', () => greeted++)
    t.teardown(() => socket.destroy())
  }
  await until(() => greeted > 0, 60_000)
  primary.kill('SIGKILL')
  await until(() => !workers.some(isRunning), 60_000)
})
