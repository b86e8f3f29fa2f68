/**
 * A connector that runs: its tunnel, the list of gateways that it follows, and its key. The control
 * plane is asked now and then; nothing that serves requests waits for its answer.
 */
import { VERSION } from '../../../../shared/version.ts'
import { readStateDocument, type SignedList } from '../service/gateway-list.ts'
import type { Proxies } from '../../resident/proxies.ts'
import type { Service } from '../service/service.ts'
import { openKey } from '../state/own-keys.ts'
import type { IdentifiedKey, Joined, StateFolder } from '../state/state-folder.ts'
import { backoffMs } from '../../resident/backoff.ts'
import { applicationAddress } from '../tunnel/splice.ts'
import { Tunnel } from '../tunnel/tunnel.ts'
import type { TunnelEvent } from '../tunnel/worker-link.ts'
import type { Log } from '../../resident/log.ts'
import { createIdentity } from './identity.ts'
import { createOwnKey, isRefused } from './own-key.ts'
import { createSleeper } from '../../resident/sleeper.ts'
import { createTunnelLog } from './tunnel-log.ts'
import { Tunnels } from './tunnels.ts'

const DIAL_MS_MAX = 10_000
const APPLICATION_MS_MAX = 5000

interface RunningWorld {
  readonly joined: Joined
  readonly state: Pick<StateFolder, 'readList' | 'writeList' | 'write'>
  readonly service: Pick<Service, 'state'>
  readonly proxies: Proxies
  readonly log: Log
  /** Of the machine, for people. */
  readonly nowMs: () => number
  /** Nobody sets it. */
  readonly upMs: () => number
  readonly random: () => number
  /** What the tunnel that serves tells, after it was logged. */
  readonly onEvent: (event: TunnelEvent) => void
}

export function createRunning(world: RunningWorld) {
  const { joined, state, proxies, log, upMs, random } = world
  const stopping = new AbortController()
  const sleeper = createSleeper(stopping.signal)
  let list: SignedList | undefined
  let document = ''
  let isKept = true
  let isFailureTold = false
  let confirmedMs: number | undefined
  let problem = ''
  let watching = Promise.resolve()

  const tunnelLog = createTunnelLog(log)
  const tunnels = new Tunnels(joined.key, {
    open: openTunnel,
    onEvent(event) {
      tunnelLog(event)
      world.onEvent(event)
    },
    onMoved: sleeper.wake,
  })
  const identity = createIdentity(joined, state)
  const ownKey = createOwnKey({ ...world, identity, tunnels })

  function openTunnel(key: IdentifiedKey, onEvent: (event: TunnelEvent) => void): Tunnel {
    return new Tunnel({
      identity: {
        tenantId: joined.tenant_id,
        connectorId: joined.connector_id,
        keyId: key.key_id,
        privateKey: openKey(key),
        program: VERSION,
      },
      application: applicationAddress(joined.origin, joined.origin_ca),
      dialling: { timeoutMs: DIAL_MS_MAX, proxies },
      random,
      nowMs: upMs,
      applicationMs: APPLICATION_MS_MAX,
      onEvent,
    })
  }

  /** By the list that is followed, once there is one, also if that cannot be written down. */
  function believed() {
    const current = identity.current()
    if (list === undefined) return current
    const { signer, authorities = [signer, current.next_authority] } = list
    return { ...current, authority: signer, next_authority: authorities[1] }
  }

  /**
   * '' once it is followed; else why it is not. Numbers are of one key: whoever has got hold of the
   * one before could have given the highest there is.
   */
  async function take(given: string, handovers?: readonly string[]): Promise<string> {
    const read = readStateDocument({ document: given, handovers }, believed())
    if (typeof read === 'string') return read
    if (list?.signer === read.signer && read.sequence < list.sequence)
      return `it is older (${read.sequence}) than the one that is kept (${list.sequence})`
    if (given !== document) {
      const { sequence, gateways } = (list = read)
      document = given
      isKept = false
      tunnels.follow(gateways)
      log.info({ gateways: gateways.length, sequence }, 'the list of gateways is followed')
    }
    return ''
  }

  /** In this order: whenever it ends in between, the list that is on the disk is one that is believed. */
  async function keep(): Promise<void> {
    if (list === undefined || (isKept && identity.believes(list))) return
    try {
      await identity.expect(list)
      await state.writeList(document)
      isKept = true
      if (await identity.believe(list))
        log.info({}, 'the key of the service has been replaced, as the one before has said')
      isFailureTold = false
    } catch (error) {
      const { message } = error as Error
      if (!isFailureTold)
        log.warn({ error: message }, 'the list of gateways could not be saved; it is used anyway')
      isFailureTold = true
    }
  }

  /** The next key of the service, where it asks for that: whoever has it on the disk can do without this one. */
  function confirmed(): string | undefined {
    const next = list?.authorities?.[1]
    return next !== undefined && identity.current().next_authority === next ? next : undefined
  }

  /** The same trouble is told once, until it is over. */
  function tellProblem(now: string): void {
    if (now !== '' && now !== problem) log.warn({ error: now }, 'the control plane')
    if (now === '' && problem !== '') log.info({}, 'the control plane answers again')
    problem = now
  }

  /** Until the next question. */
  async function askOnce(failures: number): Promise<{ waitMs: number; failures: number }> {
    const failed = { waitMs: backoffMs(failures, random), failures: failures + 1 }
    try {
      // a control plane of the release before, put back, refuses a field that it does not know
      const authority = failures % 2 === 0 ? confirmed() : undefined
      const answer = await ownKey.ask(stopping.signal, authority)
      const refusal = await take(answer.document, answer.handovers)
      tellProblem(refusal === '' ? '' : `its list of gateways is not used: ${refusal}`)
      if (refusal !== '') return failed
      await keep()
      confirmedMs = upMs()
      const jitter = 0.9 + 0.2 * random()
      return { waitMs: answer.poll_seconds * 1000 * jitter, failures: 0 }
    } catch (error) {
      if (stopping.signal.aborted) return failed
      tellProblem(
        isRefused(error)
          ? 'this connector was revoked, or is not known. To use it again: service-connector leave, then join with a new token'
          : (error as Error).message,
      )
      return failed
    }
  }

  async function watch(): Promise<void> {
    let failures = 0
    while (!stopping.signal.aborted) {
      const asked = await askOnce(failures)
      failures = asked.failures
      await sleeper.sleep(asked.waitMs)
    }
  }

  return {
    tunnels,

    /** For people; nothing of it is secret. */
    facts: () => ({
      tenantId: joined.tenant_id,
      connectorId: joined.connector_id,
      program: VERSION,
      origin: joined.origin,
      listSequence: list?.sequence ?? 0,
      /** By `upMs`; undefined: not since the start. */
      listConfirmedMs: confirmedMs,
      controlPlaneProblem: problem,
    }),

    /** With the list that is kept, before anybody is asked. */
    async start(): Promise<void> {
      const kept = await state.readList()
      const refusal = kept === null ? '' : await take(kept)
      if (refusal === '') {
        isKept = true
        await keep() // it may have ended before that was done
      } else log.warn({ error: refusal }, 'the saved list of gateways is not used')
      ownKey.resume()
      watching = watch()
    },

    rotateKey(): void {
      ownKey.wish()
      sleeper.wake()
    },

    /** No new requests; settles when those under way have ended, or with the time. */
    async stop(withinMs: number): Promise<void> {
      stopping.abort()
      await Promise.all([tunnels.drain(withinMs), watching])
      tunnels.close()
    },

    /** At once, whatever is under way. */
    close(): void {
      stopping.abort()
      tunnels.close()
    },
  }
}
