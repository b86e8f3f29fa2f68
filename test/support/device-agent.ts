/** A device that has enrolled, and the keys that its service signs challenges with. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { Test } from 'tap'
import { makeFileKey } from '../../control-plane/downloads/device-agent/key/file-key.ts'
import type { TpmWorld } from '../../control-plane/downloads/device-agent/key/tpm-key.ts'
import { run } from '../../control-plane/downloads/device-agent/program.ts'
import { signedAs } from '../../control-plane/downloads/device-agent/signed.ts'
import type { Device } from '../../control-plane/downloads/device-agent/state/device-state.ts'
import { DEVICE_MESSAGES } from '../../shared/device/messages.ts'
import { temporaryFolder } from './control-plane.ts'

export const CID = 'i'.repeat(42) + 'A'

export function challengeKey(kid: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk: Record<string, unknown> = { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256' }
  return {
    jwk,
    sign: (payload: object, header: Readonly<Record<string, unknown>> = {}) =>
      signedAs({ typ: DEVICE_MESSAGES.challenge, kid, ...header }, payload, async (bytes) =>
        sign('sha256', bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
      ),
  }
}

export function enrolledDevice(
  wish: { readonly keys?: readonly Record<string, unknown>[] } & Partial<Device> = {},
): Device {
  const { keys = [], ...others } = wish
  return {
    version: 1,
    base_url: 'https://id.example.test',
    device_id: 'dev_0123456789abcdef',
    tenant_id: 'acme',
    origin: 'https://id.example.test',
    confirm: 'https://id.example.test/auth/realms/acme/device/confirm',
    challenge_jwks: { keys: [...keys] },
    poll_s: 3600,
    key: makeFileKey(),
    link: { prev: 'n'.repeat(42) + 'A', ctr: 0, boot_id: null, is_sent: false, is_lost: false },
    state: 'fine',
    posture_hash: null,
    checked_in_at: null,
    update: null,
    ...others,
  }
}

interface AgentWorld {
  /** On standard input, as a script gives it. */
  readonly ticket?: string
  readonly tpm?: TpmWorld
  readonly nowMs?: () => number
  readonly random?: () => number
}

/** Without one, as on most machines of tests. */
const NO_TPM: TpmWorld = {
  tool: async () => ({ code: null, out: Buffer.alloc(0), err: '' }),
  device: '/nowhere',
}

/** The program `service-device-agent` in this process, with a state of its own. */
export function agentHere(t: Test, baseUrl: string) {
  const root = temporaryFolder(t)
  const state = join(root, 'state')

  function start(args: readonly string[], world: AgentWorld = {}) {
    const out: string[] = []
    const err: string[] = []
    const watchers = new Set<() => void>()
    const stream = (chunks: string[]) =>
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          chunks.push(chunk.toString())
          watchers.forEach((look) => look())
          done()
        },
      }) as NodeJS.WriteStream
    let stop = () => undefined as void
    const { ticket, tpm = NO_TPM, nowMs = Date.now, random = () => 0 } = world
    const ended = run([...args, '--state', state], {
      environment: { SERVICE_BASE_URL: baseUrl },
      stdin: Readable.from(ticket === undefined ? [] : [`${ticket}\n`]) as NodeJS.ReadStream,
      stdout: stream(out),
      stderr: stream(err),
      hostName: 'laptop-1',
      arch: 'x64',
      platform: 'linux',
      userId: process.getuid?.(),
      root,
      nodeFile: process.execPath,
      programFile: 'agent.mjs',
      tpm,
      nowMs,
      upS: () => 1000,
      random,
      onStop: (listen) => (stop = listen),
    }).then((code) => ({ code, out: out.join(''), err: err.join('') }))
    return {
      ended,
      stop: () => stop(),
      /** Settles once this stands in its log. */
      logged: (text: string) =>
        new Promise<string>((resolve, reject) => {
          const look = () => {
            if (!err.join('').includes(text)) return
            watchers.delete(look)
            resolve(err.join(''))
          }
          watchers.add(look)
          look()
          void ended.then(() => reject(new Error(`${text} was never logged: ${err.join('')}`)))
        }),
    }
  }

  return {
    root,
    state,
    facts: join(root, 'run/service-device-agent/facts.json'),
    start,
    call: (args: readonly string[], world?: AgentWorld) => start(args, world).ended,
    /** As it is kept. */
    device: () => JSON.parse(readFileSync(join(state, 'device.json'), 'utf8')) as Device,
  }
}
