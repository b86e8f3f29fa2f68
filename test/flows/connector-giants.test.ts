// long: five gigabytes up and down
/** What goes through a tunnel stays in none of the three programs that carry it. */
import { fork, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { deriveCertificate } from '../../shared/self-signed.ts'
import type { AloneOrder } from '../support/connector-alone.ts'
import { newConnectorKeys } from '../support/dialled-in.ts'
import { childrenOf, startLiveGateway } from '../support/live-gateway.ts'
import { freePort } from '../support/ports.ts'
import { SECRETS } from '../support/programs.ts'

const BYTES = 5 * 2 ** 30
/** What an idle heap may have grown by, and what is under way. */
const GROWN_BYTES_MAX = 150 * 2 ** 20
const LOOK_MS = 200

function program(t: Test, name: string): ChildProcess {
  const path = fileURLToPath(new URL(`../support/${name}.ts`, import.meta.url))
  const child = fork(path, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

const said = (child: ChildProcess) =>
  new Promise<unknown>((resolve) => child.once('message', (message) => resolve(message)))

const residentBytes = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024

/** Resident memory while something goes on, of each program the most. */
async function most(pids: readonly number[], work: Promise<unknown>): Promise<number[]> {
  const seen = pids.map(residentBytes)
  const look = () => pids.forEach((pid, at) => (seen[at] = Math.max(seen[at]!, residentBytes(pid))))
  const looking = setInterval(look, LOOK_MS)
  await work
  clearInterval(looking)
  return seen
}

/** Asks by `head`, sends so many bytes behind it, and gives back how many came and how they ended. */
function carry(port: number, head: string, sent: number): Promise<{ bytes: number; end: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const piece = Buffer.alloc(1 << 16, 'y')
    let bytes = 0
    let end = ''
    let left = sent
    const send = () => {
      while (left > 0) {
        const next = left < piece.length ? piece.subarray(0, left) : piece
        left -= next.length
        if (!socket.write(next)) return void socket.once('drain', send)
      }
    }
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      end = `${end}${chunk.toString('latin1', Math.max(0, chunk.length - 20))}`.slice(-20)
    })
    socket.on('end', () => resolve({ bytes, end }))
    socket.on('error', reject)
    socket.write(head)
    send()
  })
}

t.test('five gigabytes down and up, and memory stays flat on all three programs', async (t) => {
  const application = program(t, 'pouring-application')
  const applicationPort = Number(await said(application))
  const keys = newConnectorKeys()
  const tlsPort = await freePort()
  const gateway = await startLiveGateway(t, {
    origin: 'http://shop.internal',
    config: `  tls_listen: 127.0.0.1:${tlsPort}\n  connect_address: 127.0.0.1:${tlsPort}`,
    tenant: {
      mode: 'connector',
      connectors: [{ connector_id: 'con_1', keys: [{ key_id: 'k1', public_key: keys.publicKey }] }],
    },
  })
  const connector = program(t, 'connector-alone')
  const connected = said(connector)
  connector.send({
    gateway: {
      gateway_id: 'live',
      address: `127.0.0.1:${tlsPort}`,
      certificate: deriveCertificate(SECRETS.SERVICE_FLEET_KEY).certificate,
    },
    privateKeyPem: String(keys.privateKey.export({ format: 'pem', type: 'pkcs8' })),
    origin: `http://127.0.0.1:${applicationPort}`,
  } satisfies AloneOrder)
  t.equal(await connected, 'connected')
  const [worker = 0] = childrenOf(gateway.program.child.pid!)
  const pids = [worker, connector.pid!, application.pid!]
  const down = (bytes: number) =>
    carry(gateway.port, gateway.head(`/pour/${bytes}`, 'Connection: close\r\n'), 0)
  const up = (bytes: number) => {
    const lines = `Connection: close\r\nContent-Length: ${bytes}\r\n`
    return carry(gateway.port, gateway.head('/take', lines).replace('GET', 'POST'), bytes)
  }
  const warm = 2 ** 28
  const before = await most(pids, Promise.all([down(warm), up(warm)]))
  const downloaded = down(BYTES)
  const whileDown = await most(pids, downloaded)
  t.ok((await downloaded).bytes >= BYTES)
  const uploaded = up(BYTES)
  const whileUp = await most(pids, uploaded)
  t.ok((await uploaded).end.endsWith(String(BYTES)))
  for (const [at, name] of ['gateway', 'connector', 'application'].entries())
    for (const [direction, seen] of [
      ['down', whileDown],
      ['up', whileUp],
    ] as const) {
      const grown = seen[at]! - before[at]!
      t.ok(
        grown < GROWN_BYTES_MAX,
        `${name}, ${direction}: ${(grown / 2 ** 20).toFixed(0)} MiB more`,
      )
    }
})
