/**
 * Whether a hostname is a tenant's: what was given to this tenant for this hostname is found in a TXT
 * record below it, or in a file of it. Whoever is asked is chosen by the tenant, so it is asked as
 * receivers of webhooks are: public addresses alone, the socket to what was checked, no redirect, one
 * deadline. Of what answered, or did not, nothing is told but whether it was the proof.
 */
import { request, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { LIMITS } from '../../shared/limits.ts'
import { openTunnel, resolveWithin } from '../outbound/checked-connect.ts'
import { createReceiverAddresses } from '../outbound/public-address.ts'
import type { Resolve } from '../outbound/resolve-name.ts'
import { createTxtProofs, type RecordState, type ResolveTxt } from '../outbound/txt-proof.ts'

/** The same path for all: a server that answers with what it was asked for proves nothing. */
export const PROOF_PATH = '/.well-known/service-hostname.txt'
export const proofRecordOf = (hostname: string) => `_service-hostname.${hostname}`
export const proofOf = (token: string) => `service-hostname=${token}`

export interface ProofWorld {
  /** Networks that are opened to webhooks are opened here, too. */
  readonly allowPrivate: readonly string[]
  readonly egressProxy: string | null
  readonly resolve?: Resolve | undefined
  readonly resolveTxt?: ResolveTxt | undefined
  /** Elsewhere than where browsers ask, for tests. */
  readonly port?: number | undefined
  readonly timeoutMs?: number | undefined
}

type Way = 'dns' | 'http'
export type LookForRecord = (hostname: string, token: string) => Promise<RecordState>
export type LookForProof = (hostname: string, token: string) => Promise<Way | undefined>

export function createProofs(world: ProofWorld) {
  const { allowPrivate, egressProxy, port = 80, timeoutMs = LIMITS.hostnameLookMsMax } = world
  const { resolve = resolveWithin(timeoutMs) } = world
  const records = createTxtProofs(timeoutMs, world.resolveTxt)
  const addresses = createReceiverAddresses({ allowPrivate, resolve })
  const ending = new AbortController()

  async function isInFile(hostname: string, proof: string, signal: AbortSignal) {
    for (const address of (await addresses.find(hostname)).slice(0, LIMITS.addressesTriedMax)) {
      signal.throwIfAborted()
      const socket = await socketTo(address, signal).catch(() => undefined)
      if (socket === undefined) continue
      try {
        const text = await textOf(await asked(socket, hostname, signal))
        return text.split(/\r?\n/).includes(proof)
      } finally {
        socket.destroy()
      }
    }
    return false
  }

  async function socketTo(address: string, signal: AbortSignal): Promise<Socket> {
    if (egressProxy !== null) return openTunnel(egressProxy, address, port, timeoutMs)
    const socket = connect({ host: address, port, signal })
    await new Promise<void>((done, fail) => {
      socket.once('connect', done)
      socket.once('error', fail)
    })
    if (addresses.mayReach(socket.remoteAddress ?? '')) return socket
    socket.destroy()
    throw new Error('the connection led elsewhere')
  }

  /** Whoever shows it first ends the other look. */
  const look: LookForProof = async (hostname, token) => {
    const proof = proofOf(token)
    const over = new AbortController()
    const deadline = AbortSignal.any([ending.signal, over.signal, AbortSignal.timeout(timeoutMs)])
    const shown = (way: Way, isThere: boolean) => (isThere ? way : Promise.reject(new NotShown()))
    const ways = [
      records.isIn(proofRecordOf(hostname), proof).then((isThere) => shown('dns', isThere)),
      isInFile(hostname, proof, deadline).then((isThere) => shown('http', isThere)),
    ]
    const late = new Promise<undefined>((done) =>
      deadline.addEventListener('abort', () => done(undefined), { once: true }),
    )
    try {
      return await Promise.race([Promise.any(ways), late])
    } catch {
      return undefined
    } finally {
      over.abort()
    }
  }

  const record: LookForRecord = (hostname, token) =>
    records.state(proofRecordOf(hostname), proofOf(token))

  return {
    look,
    record,
    records,
    close(): void {
      ending.abort()
      records.close()
    },
  }
}

class NotShown extends Error {
  override readonly name = 'NotShown'
}

function asked(socket: Socket, hostname: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    const headers = { host: hostname, accept: 'text/plain' }
    const sent = request(
      { path: PROOF_PATH, headers, signal, createConnection: () => socket },
      done,
    )
    sent.once('error', fail)
    sent.end()
  })
}

/** Of any other status nothing is read; whoever sends more is not listened to. */
async function textOf(answer: IncomingMessage): Promise<string> {
  if (answer.statusCode !== 200) return ''
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > LIMITS.hostnameAnswerBytesMax) return ''
  }
  return Buffer.concat(chunks).toString('utf8')
}
