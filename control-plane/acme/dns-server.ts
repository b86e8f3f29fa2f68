/**
 * The zone of `control_plane.acme.dns`, answered over UDP and TCP by any control plane: what there is
 * to answer lies in the store. Anybody may ask, in anybody's name: so an answer is little longer than
 * its question, one network gets few of them over UDP, and however many ask, the store is read a few
 * times a second.
 */
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram'
import { createServer, isIPv6, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Logger } from 'pino'
import { countedAs, withoutMapping } from '../../shared/client-address.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Listen } from '../../shared/config/config.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createRateLimits } from '../../shared/rate-limits.ts'
import { createAddressPlaces } from '../listener/address-places.ts'
import { acmeDnsValues } from '../store/queries/acme-orders.ts'
import type { Store } from '../store/store.ts'
import {
  bytesMaxOf,
  isReadable,
  RCODES,
  readQuestion,
  writeAnswer,
  writeCut,
} from './dns-message.ts'
import { createZone, type DnsZone } from './dns-zone.ts'

interface DnsServerWorld {
  readonly zone: DnsZone
  readonly thumbprint: string
  readonly store: Pick<Store, 'read'>
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
}

const TCP_BYTES_MAX = 65_535
const LENGTH_BYTES = 2

export function createDnsServer(world: DnsServerWorld) {
  const { zone, thumbprint, store, clock, log } = world
  const valuesOf = createValues(store)
  const answerQuestion = createZone({ ...zone, thumbprint, valuesOf })
  const rates = createRateLimits(clock, LIMITS.dnsNetworksMax)
  const rate = { burst: LIMITS.dnsAnswersBurstMax, perSecond: LIMITS.dnsAnswersPerSecondMax }
  let refusals = 0
  let underWay = 0

  /** undefined: nothing is said. */
  async function answer(bytes: Buffer, bytesMax?: number): Promise<Buffer | undefined> {
    const read = readQuestion(bytes)
    if (read === undefined) return undefined
    const most = bytesMax ?? bytesMaxOf(read)
    if (!isReadable(read)) return writeAnswer(read, read, most)
    try {
      return writeAnswer(read, await answerQuestion(read), most)
    } catch (error) {
      log.warn({ error }, 'what certificates are proven by cannot be read')
      return writeAnswer(read, { rcode: RCODES.SERVFAIL }, most)
    }
  }

  /** Whoever asks too often is told now and then to come over TCP, where nobody speaks for others. */
  async function answerUdp(bytes: Buffer, { address }: RemoteInfo): Promise<Buffer | undefined> {
    if (bytes.length > LIMITS.dnsQuestionBytesMax) return undefined
    if (rates.waitSeconds('udp', networkOf(address), rate) === undefined) {
      if (underWay >= LIMITS.dnsQuestionsAtOnceMax) return undefined
      underWay++
      return answer(bytes).finally(() => underWay--)
    }
    const read = ++refusals % 2 === 0 ? readQuestion(bytes) : undefined
    return read !== undefined && isReadable(read) ? writeCut(read) : undefined
  }

  const { dnsConnectionsMax: maxOfAll, dnsConnectionsPerAddressMax: perAddressMax } = LIMITS
  const places = createAddressPlaces({ perAddressMax, maxOfAll })
  let open = 0

  function take(socket: Socket) {
    const leave = open < maxOfAll && places.take(withoutMapping(socket.remoteAddress ?? ''))
    if (!leave) return void socket.destroy()
    open++
    // not by what it sends: whoever sends a byte now and then has no longer
    const deadline = setTimeout(() => socket.destroy(), LIMITS.dnsConnectionMsMax).unref()
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      clearTimeout(deadline)
      open--
      leave()
    })
    void converse(socket).catch(() => socket.destroy())
  }

  /** One question after the other. */
  async function converse(socket: Socket): Promise<void> {
    let held = Buffer.alloc(0)
    let questions = 0
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      held = Buffer.concat([held, chunk])
      while (held.length >= LENGTH_BYTES) {
        const length = held.readUInt16BE(0)
        if (length > LIMITS.dnsQuestionBytesMax) return void socket.destroy()
        if (held.length < LENGTH_BYTES + length) break
        if (++questions > LIMITS.dnsQuestionsPerConnectionMax) return void socket.destroy()
        const said = await answer(held.subarray(LENGTH_BYTES, LENGTH_BYTES + length), TCP_BYTES_MAX)
        held = held.subarray(LENGTH_BYTES + length)
        if (said === undefined) return void socket.destroy()
        const size = Buffer.alloc(LENGTH_BYTES)
        size.writeUInt16BE(said.length)
        socket.write(Buffer.concat([size, said]))
      }
    }
  }

  let udp: UdpSocket | undefined
  let tcp: Server | undefined
  return {
    /** At the same port, if it is to be chosen. */
    async listen({ host, port }: Listen): Promise<AddressInfo> {
      const server = createServer(take)
      tcp = server
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, resolve)
      })
      server.on('error', (error) => log.warn({ error }, 'a connection for DNS came to nothing'))
      const address = server.address() as AddressInfo
      const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
      udp = socket
      socket.on('message', (bytes, from) => {
        // a sender may name port 0, where nobody can be answered: to send there throws
        if (from.port === 0) return
        void answerUdp(bytes, from)
          .then((said) => {
            if (said !== undefined && udp === socket)
              socket.send(said, from.port, from.address, ignore)
          })
          .catch((error: unknown) => log.warn({ error }, 'a question of DNS came to nothing'))
      })
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject)
        socket.bind(address.port, host, resolve)
      })
      socket.on('error', (error) => log.warn({ error }, 'a question of DNS came to nothing'))
      return address
    },
    close() {
      udp?.close()
      udp = undefined
      tcp?.close()
    },
  }
}

const ignore = (): void => undefined

/** Those who are flooded in others' names are networks, as a rule: a /24, or a /64. */
function networkOf(address: string): string {
  const plain = withoutMapping(address)
  return isIPv6(plain) ? countedAs(plain) : plain.replace(/\.\d+$/, '.0')
}

/** All that there are, a handful; read anew for who asks later than they are good for. */
function createValues({ read }: Pick<Store, 'read'>) {
  let known:
    | { readonly values: Promise<Map<string, string[]>>; readonly untilMs: number }
    | undefined
  return async (label: string): Promise<readonly string[]> => {
    if (known === undefined || known.untilMs <= performance.now()) {
      const asked = { values: readValues(read), untilMs: performance.now() + LIMITS.dnsValuesMsMax }
      known = asked
      asked.values.catch(() => known === asked && (known = undefined))
    }
    return (await known.values).get(label) ?? []
  }
}

async function readValues(read: Store['read']): Promise<Map<string, string[]>> {
  const rows = await acmeDnsValues(read, LIMITS.dnsValuesMax)
  const byLabel = Map.groupBy(rows, ({ dnsLabel }) => dnsLabel ?? '')
  return new Map(
    [...byLabel].map(([label, of]) => [label, of.flatMap(({ dnsValue }) => dnsValue ?? [])]),
  )
}
