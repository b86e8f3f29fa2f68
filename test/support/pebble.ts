/**
 * Debian's pebble, a certificate authority for tests (apt-get install pebble): it refuses good
 * nonces, waits before it looks, and asks every name at 127.0.0.1.
 */
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Agent, fetch } from 'undici'
import { freePort } from './ports.ts'
import { createTestAuthority } from './test-certificates.ts'

interface Teardown {
  teardown(close: () => unknown): void
}

interface PebbleOptions {
  /** Where it asks for HTTP-01. */
  readonly httpPort: number
  /** Of a hundred good nonces. */
  readonly noncesRefused?: number
  /** A name server; without one every name is this machine. */
  readonly dnsPort?: number
  readonly externalAccounts?: Readonly<Record<string, string>>
  readonly environment?: Readonly<Record<string, string>>
}

const PROGRAM = '/usr/bin/pebble'
export const NO_PEBBLE = existsSync(PROGRAM) ? false : 'pebble is not installed'

export async function startPebble(t: Teardown, options: PebbleOptions) {
  const { httpPort, noncesRefused = 30, externalAccounts, environment } = options
  const folder = mkdtempSync(join(tmpdir(), 'pebble-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const authority = createTestAuthority(t)
  const { certificate_pem: certificate, private_key_pem: key } = authority.issue('localhost')
  writeFileSync(join(folder, 'cert.pem'), certificate)
  writeFileSync(join(folder, 'key.pem'), key)
  const [port, managementPort] = [await freePort(), await freePort()]
  const config = join(folder, 'config.json')
  writeFileSync(
    config,
    JSON.stringify({
      pebble: {
        listenAddress: `127.0.0.1:${port}`,
        managementListenAddress: `127.0.0.1:${managementPort}`,
        certificate: join(folder, 'cert.pem'),
        privateKey: join(folder, 'key.pem'),
        httpPort,
        tlsPort: httpPort,
        externalAccountBindingRequired: externalAccounts !== undefined,
        externalAccountMACKeys: externalAccounts ?? {},
      },
    }),
  )
  const { dnsPort = await startNames(t) } = options
  const pebble = spawn(
    PROGRAM,
    ['-strict', '-config', config, '-dnsserver', `127.0.0.1:${dnsPort}`],
    {
      env: {
        PEBBLE_VA_NOSLEEP: '1',
        PEBBLE_AUTHZREUSE: '0',
        PEBBLE_WFE_NONCEREJECT: String(noncesRefused),
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const ended = new Promise<void>((resolve) => pebble.once('exit', () => resolve()))
  t.teardown(async () => {
    pebble.kill('SIGKILL')
    await ended
  })
  const lines: string[] = []
  await new Promise<void>((resolve, reject) => {
    for (const stream of [pebble.stdout, pebble.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line)
        if (line.includes('ACME directory available at')) resolve()
      })
    void ended.then(() => reject(new Error(`pebble ended: ${lines.join('\n')}`)))
  })
  const agent = new Agent({ connect: { ca: authority.caPem } })
  t.teardown(() => agent.close())
  return {
    directory: `https://localhost:${port}/dir`,
    /** What signs its own address. */
    ca: authority.caPem,
    /** What has signed the certificates that it issues. */
    async root(): Promise<string> {
      const url = `https://localhost:${managementPort}/roots/0`
      return (await fetch(url, { dispatcher: agent })).text()
    },
    /** All that it has said. */
    lines,
  }
}

const HEAD_BYTES = 12
const TYPE_A = 1

/** A name server by which every name is this machine. */
async function startNames(t: Teardown): Promise<number> {
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address }) => {
    const typeAt = question.indexOf(0, HEAD_BYTES) + 1
    const isA = question.readUInt16BE(typeAt) === TYPE_A
    const head = Buffer.from(question.subarray(0, HEAD_BYTES))
    head.writeUInt16BE(0x8180, 2)
    head.writeUInt16BE(isA ? 1 : 0, 6)
    head.fill(0, 8) // it may have brought an OPT record, which is not answered
    const answer = Buffer.from('c00c00010001000000010004' + '7f000001', 'hex')
    const asked = question.subarray(HEAD_BYTES, typeAt + 4)
    socket.send(Buffer.concat([head, asked, ...(isA ? [answer] : [])]), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  t.teardown(() => socket.close())
  return socket.address().port
}
