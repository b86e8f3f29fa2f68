/**
 * Workers of other gateways that have come for connectors here. Each has a control connection and
 * ends with it; what they open is spliced with a connection of a connector, and with nothing else.
 */
import { X509Certificate, type KeyObject } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import type { HopHello } from '../../shared/connector/handshake.ts'
import { readLines } from '../../shared/connector/lines.ts'
import {
  HopGuestWordSchema,
  notHopped,
  OK,
  readWord,
  type HopFailure,
  type HopWord,
} from '../../shared/connector/messages.ts'
import type { FleetGateway } from '../../shared/fleet/snapshot.ts'
import { LIMITS } from '../../shared/limits.ts'
import { Spending } from '../wire/budget.ts'
import type { Way } from '../wire/upstream-call.ts'
import { toldOf } from './open-failures.ts'
import { splice } from './splice.ts'

type Hop = HopHello & { readonly kind: 'hop' }

interface Guest {
  readonly gatewayId: string
  /** By which certificate it was known when it came. */
  readonly certificate: string
  readonly control: TLSSocket
  readonly sockets: Map<number, TLSSocket>
  /** What it has had here, the last ones also for a while after their end: word of that comes behind it. */
  readonly served: Map<number, Served>
  /** Pings since it has said anything. */
  unanswered: number
}

/** Its requests pass unseen, so it says how many a connector has answered. */
interface Served {
  requests: number
  readonly count: (requests: number) => void
}

/** No connection answers so many between two words. */
const SERVED_AT_ONCE_MAX = 1_000_000

interface GuestsWorld {
  readonly gatewayId: string
  /** Undefined: no connector of the tenant is here. */
  readonly wayHere: (tenantId: string) => Way | undefined
  readonly nowMs: () => number
}

interface Known {
  readonly certificate: string
  readonly key: KeyObject
}

const keyOfLink = ({ gateway_id, link }: HopHello) => `${gateway_id} ${link}`

export function createHopGuests({ gatewayId, wayHere, nowMs }: GuestsWorld) {
  const known = new Map<string, Known>()
  const guests = new Map<string, Guest>()
  let isDraining = false
  const free = Promise.withResolvers<void>()
  const counts = { hopsServed: 0 }

  const tell = ({ control }: Guest, word: HopWord) =>
    void (control.writable && control.write(`${JSON.stringify(word)}\n`))

  function linksOf(gatewayId: string): number {
    let sum = 0
    for (const guest of guests.values()) if (guest.gatewayId === gatewayId) sum++
    return sum
  }

  function end({ control, sockets }: Guest): void {
    control.destroy()
    for (const socket of [...sockets.values()]) socket.destroy()
  }

  function connections(): number {
    let sum = 0
    for (const { sockets } of guests.values()) sum += sockets.size
    return sum
  }

  function welcome(control: TLSSocket, hello: HopHello): void {
    const link = keyOfLink(hello)
    const certificate = known.get(hello.gateway_id)?.certificate
    const isWelcome = certificate !== undefined && !guests.has(link) && !isDraining
    if (!isWelcome || linksOf(hello.gateway_id) >= LIMITS.hopLinksMax) return void control.destroy()
    const guest: Guest = {
      gatewayId: hello.gateway_id,
      certificate,
      control,
      sockets: new Map(),
      served: new Map(),
      unanswered: 0,
    }
    guests.set(link, guest)
    const words = new Spending(LIMITS.hopWords, nowMs())
    const lines = readLines(control, {
      bytesMax: LIMITS.connectorMessageBytesMax,
      onLine(line) {
        // A line is a byte to whoever sends it.
        if (!words.spend(nowMs())) {
          lines.stop()
          return void control.destroy()
        }
        const word = readWord(HopGuestWordSchema, line)
        if (word?.say === 'pong') guest.unanswered = 0
        if (word?.say === 'served')
          for (const [hop, requests] of word.hops) count(guest, hop, requests)
      },
      onTooLong: () => control.destroy(),
    })
    control.once('close', () => {
      guests.delete(link)
      end(guest)
      judgeFree()
    })
    tell(guest, { say: 'welcome' })
  }

  function count({ served }: Guest, hop: number, requests: number): void {
    const known = served.get(hop)
    if (known === undefined || requests <= known.requests) return
    known.count(Math.min(requests - known.requests, SERVED_AT_ONCE_MAX))
    known.requests = requests
  }

  /** A connection of its own: the oldest that have ended are forgotten. */
  function expectCounts({ served, sockets }: Guest, hop: number, toCount: Served['count']): void {
    served.set(hop, { requests: 1, count: toCount })
    if (served.size <= 2 * LIMITS.hopConnectionsMax) return
    for (const one of served.keys()) if (!sockets.has(one)) return void served.delete(one)
  }

  function judgeFree(): void {
    if (isDraining && connections() === 0) free.resolve()
  }

  function open(socket: TLSSocket, hello: Hop): void {
    const guest = guests.get(keyOfLink(hello))
    const isRoom = guest !== undefined && guest.sockets.size < LIMITS.hopConnectionsMax
    if (!isRoom || guest.sockets.has(hello.hop)) return void socket.destroy()
    guest.sockets.set(hello.hop, socket)
    socket.once('close', () => {
      guest.sockets.delete(hello.hop)
      judgeFree()
    })
    // Nobody has told it that it may: whatever it says must not become a request.
    socket.on('data', destroy)
    let isRetired = false // which is said once
    const way = isDraining ? undefined : wayHere(hello.tenant_id)
    if (way === undefined) return refuse(socket, 'absent')
    way.open({
      isFromGateway: true,
      isWanted: () => !socket.destroyed,
      onOpened(connector, toCount) {
        socket.off('data', destroy)
        if (socket.destroyed) connector.destroy()
        else {
          counts.hopsServed++
          if (toCount !== undefined) expectCounts(guest, hello.hop, toCount)
          socket.write(OK)
          splice(socket, connector)
        }
        return {
          served: 1,
          isPooled: false,
          client: `gateway ${guest.gatewayId}`,
          retire() {
            if (!isRetired) tell(guest, { say: 'retire', hop: hello.hop })
            isRetired = true
          },
        }
      },
      onFailed: (failed) => refuse(socket, toldOf(failed)),
    })
  }

  return {
    enter(socket: TLSSocket, hello: HopHello): void {
      if (hello.kind === 'hop_control') welcome(socket, hello)
      else open(socket, hello)
    },
    gatewayKeyOf: (id: string): KeyObject | undefined => known.get(id)?.key,
    /** The gateways of the fleet: whoever is named no more, or by another certificate, is cut off. */
    follow(gateways: readonly FleetGateway[]): void {
      const before = new Map(known)
      known.clear()
      for (const { gateway_id: id, certificate } of gateways) {
        const same = before.get(id)
        const key = same?.certificate === certificate ? same.key : keyIn(certificate)
        if (id !== gatewayId && key !== undefined) known.set(id, { certificate, key })
      }
      for (const guest of [...guests.values()])
        if (known.get(guest.gatewayId)?.certificate !== guest.certificate) end(guest)
    },
    look(): void {
      for (const guest of [...guests.values()]) {
        if (guest.unanswered >= LIMITS.connectorSilentMsMax / LIMITS.hopPingMs - 1) end(guest)
        else tell(guest, { say: 'ping' })
        guest.unanswered++
      }
    },
    counts,
    connections,
    /** Nothing new; settles when what is under way has ended. */
    drain(): Promise<void> {
      isDraining = true
      for (const guest of guests.values()) tell(guest, { say: 'drain' })
      judgeFree()
      return free.promise
    },
    close(): void {
      for (const guest of [...guests.values()]) end(guest)
    },
  }
}

/** The key that its certificate speaks of signs its hops, too. Undefined for what is none. */
function keyIn(certificate: string): KeyObject | undefined {
  try {
    const { publicKey } = new X509Certificate(Buffer.from(certificate, 'base64url'))
    return publicKey.asymmetricKeyType === 'ed25519' ? publicKey : undefined
  } catch {
    return undefined
  }
}

/** The last word on it. */
function refuse(socket: TLSSocket, reason: HopFailure): void {
  socket.end(notHopped(reason))
  socket.destroySoon()
}

function destroy(this: TLSSocket): void {
  this.destroy()
}
