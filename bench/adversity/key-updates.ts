/** TLS 1.3 lets a client change its key with 27 bytes: what those of one address cost another one. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectTls } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { KEY_UPDATE_BYTES } from '../../test/support/key-updates.ts'
import { LIVE_HOST, startLiveGateway } from '../../test/support/live-gateway.ts'
import { freePort } from '../../test/support/ports.ts'
import { createTestAuthority } from '../../test/support/test-certificates.ts'
import { startOrigin } from '../origin.ts'
import type { Scope } from './scope.ts'

const UPDATES_EACH = 4500
/** Connections at once, and how often the attacker comes back with as many. */
const FLOODS = [
  { connections: 1, times: 1 },
  { connections: 40, times: 1 },
  { connections: 40, times: 5 },
  { connections: 200, times: 1 },
]

export async function measureKeyUpdates(scope: Scope) {
  const origin = await startOrigin()
  scope.teardown(() => origin.stop())
  const authority = createTestAuthority(scope)
  const tlsPort = await freePort()
  const gateway = await startLiveGateway(scope, {
    origin: `http://127.0.0.1:${origin.port}`,
    config: `  tls_listen: 127.0.0.1:${tlsPort}`,
    tenant: { certificates: [authority.issue(LIVE_HOST)] },
  })
  const head = gateway.head('/')
  console.log(
    `  nobody else: longest answer ${(await longest(tlsPort, head, async () => {})).toFixed(0)} ms`,
  )
  for (const { connections, times } of FLOODS) {
    let sent = 0
    let most = 0
    let refused = 0
    for (let time = 0; time < times; time++) {
      const clients = await startClients(tlsPort, connections)
      const took = await longest(tlsPort, head, async () => {
        sent += await clients.flood()
        await new Promise((resolve) => setTimeout(resolve, 4000))
      })
      most = Math.max(most, took)
      refused += clients.refused
      await clients.stop()
    }
    console.log(
      `  ${connections} connections with ${UPDATES_EACH} updates each, ${times} times: ` +
        `${sent} updates (${((sent * KEY_UPDATE_BYTES) / 2 ** 20).toFixed(1)} MiB) sent, ${refused} connections refused, ` +
        `longest answer to somebody else ${most.toFixed(0)} ms`,
    )
  }
}

async function startClients(port: number, connections: number) {
  const file = fileURLToPath(new URL('key-update-clients.ts', import.meta.url))
  const child = fork(file, [port, connections, UPDATES_EACH].map(String))
  const [refused] = (await once(child, 'message')) as [number]
  return {
    refused,
    async flood(): Promise<number> {
      child.send('go')
      return Number((await once(child, 'message'))[0])
    },
    async stop() {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}

/** Of those that another address gets, one after the other, while that goes on. */
async function longest(
  port: number,
  head: string,
  meanwhile: () => Promise<void>,
): Promise<number> {
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    servername: LIVE_HOST,
    rejectUnauthorized: false,
  })
  await once(socket, 'secureConnect')
  let isOver = false
  let most = 0
  const asking = (async () => {
    while (!isOver) {
      const startMs = performance.now()
      socket.write(head)
      await once(socket, 'data')
      most = Math.max(most, performance.now() - startMs)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })()
  await new Promise((resolve) => setTimeout(resolve, 1000))
  await meanwhile()
  isOver = true
  await asking
  socket.destroy()
  return most
}
