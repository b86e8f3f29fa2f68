/**
 * What is answered for the zone that certificates are proven by: the values that authorities look for,
 * and nothing else. Hostnames of tenants point here by a CNAME; the label says whose it is and for
 * which name, so that nobody proves with what somebody else was given. Pure.
 */
import { createHash } from 'node:crypto'
import {
  CLASS_IN,
  nameBytes,
  RCODES,
  textBytes,
  TYPES,
  type DnsRecord,
  type Question,
  type Rcode,
} from './dns-message.ts'

export interface DnsZone {
  /** In lower case. */
  readonly name: string
  /** Whom its parent names as the name servers of it; outside of it, so that they need no address here. */
  readonly servers: readonly string[]
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567'
const LABEL = /^[a-z2-7]{32}$/
const LABEL_BYTES = 20
const CHECK = /^check-([0-9a-f]{32})$/

/** What is there is gone after minutes, and what is not may be there in a second. */
const ANSWER_SECONDS = 1
const SERVERS_SECONDS = 3600

/**
 * `owner`: a tenant's number, which is never given again, so that what a former owner of a name was
 * given opens it to no later tenant. Of one account, so that another database gives others.
 */
export function labelOf(thumbprint: string, owner: number | 'own', name: string): string {
  const text = `acme delegation\n${thumbprint}\n${owner}\n${name}`
  const bytes = createHash('sha256').update(text).digest().subarray(0, LABEL_BYTES)
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits.replaceAll(/.{5}/g, (five) => LETTERS[Number.parseInt(five, 2)]!)
}

/** Whether the zone leads here: nobody can answer it for us, and no cache has it. */
export const checkLabel = (nonce: string) => `check-${nonce}`
export const checkAnswer = (nonce: string, thumbprint: string) => `${nonce}.${thumbprint}`

/** What an authority looks for (RFC 8555 section 8.4). */
export const dnsValueOf = (token: string, thumbprint: string): string =>
  createHash('sha256').update(`${token}.${thumbprint}`).digest('base64url')

interface Said {
  readonly rcode: Rcode
  readonly answers?: readonly DnsRecord[]
  readonly authorities?: readonly DnsRecord[]
}

interface ZoneWorld extends DnsZone {
  readonly thumbprint: string
  /** Throws where they cannot be read. */
  readonly valuesOf: (label: string) => Promise<readonly string[]>
}

export function createZone({ name: zone, servers, thumbprint, valuesOf }: ZoneWorld) {
  const zoneBytes = nameBytes(zone)
  const soa = soaBytes(zone, servers)
  const nameServers = servers.map(nameBytes)

  return async function answer(question: Question): Promise<Said> {
    const { name, type } = question
    const isInside = name === zone || name?.endsWith(`.${zone}`) === true
    if (question.class !== CLASS_IN || !isInside) return { rcode: RCODES.REFUSED }
    const zoneAt = question.asked.length - 4 - zoneBytes.length
    const start = { type: TYPES.SOA, ttlSeconds: ANSWER_SECONDS, content: soa, nameAt: zoneAt }
    const nothing = { rcode: RCODES.NOERROR, authorities: [start] }
    const record = (content: Buffer, ttlSeconds = ANSWER_SECONDS): DnsRecord => {
      return { type, ttlSeconds, content, nameAt: 0 }
    }
    if (name === zone) {
      if (type === TYPES.SOA) return { rcode: RCODES.NOERROR, answers: [start] }
      if (type !== TYPES.NS) return nothing
      const answers = nameServers.map((bytes) => record(bytes, SERVERS_SECONDS))
      return { rcode: RCODES.NOERROR, answers }
    }
    const label = name.slice(0, -zone.length - 1)
    const nonce = CHECK.exec(label)?.[1]
    // whether somebody was given a label is nothing that it is told by
    if (nonce === undefined && !LABEL.test(label))
      return { rcode: RCODES.NXDOMAIN, authorities: [start] }
    if (type !== TYPES.TXT) return nothing
    const values = nonce === undefined ? await valuesOf(label) : [checkAnswer(nonce, thumbprint)]
    if (values.length === 0) return nothing
    return { rcode: RCODES.NOERROR, answers: values.map((value) => record(textBytes(value))) }
  }
}

/** RFC 1035 section 3.3.13. Nobody transfers the zone, so only its last number counts. */
function soaBytes(zone: string, [server = zone]: readonly string[]): Buffer {
  const numbers = Buffer.alloc(20)
  for (const [place, value] of [1, 3600, 600, 86_400, ANSWER_SECONDS].entries())
    numbers.writeUInt32BE(value, 4 * place)
  return Buffer.concat([nameBytes(server), nameBytes(`hostmaster.${zone}`), numbers])
}
