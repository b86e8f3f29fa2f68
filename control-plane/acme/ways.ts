/**
 * By which proof a hostname can have a certificate: a CNAME record that leads to our zone proves it,
 * or the name above it, by DNS; else it is asked at port 80. Looked at before an authority is asked,
 * as an authority will look.
 */
import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { LIMITS } from '../../shared/limits.ts'
import type { AcmeOrder } from '../store/queries/acme-orders.ts'
import { numberOf } from '../store/queries/tenants.ts'
import { isReserved } from '../store/reserved.ts'
import type { Store } from '../store/store.ts'
import { checkAnswer, checkLabel, labelOf, type DnsZone } from './dns-zone.ts'

/** Name servers, asked as anybody would. */
export interface DnsResolver {
  cname(name: string): Promise<readonly string[]>
  txt(name: string): Promise<readonly (readonly string[])[]>
  close?(): void
}

interface NoWay {
  readonly kind: 'none'
  readonly obstacle: string
}
interface DnsWay {
  readonly kind: 'dns'
  /** What is ordered then: the hostname, or a wildcard above it. */
  readonly identifier: string
  readonly label: string
}
type Way = { readonly kind: 'http' } | DnsWay | NoWay

interface WaysWorld {
  readonly store: Pick<Store, 'read'>
  readonly thumbprint: string
  /** undefined: nothing is proven by DNS. */
  readonly zone?: DnsZone | undefined
  readonly resolver: DnsResolver
  /** undefined: it leads to us at port 80; else what to change. */
  readonly preflight: (hostname: string) => Promise<string | undefined>
}

export function createWays({ store, thumbprint, zone, resolver, preflight }: WaysWorld) {
  /** Where a name leads to in the end; undefined: nowhere else, or nobody says. */
  async function aliasOf(name: string): Promise<string | undefined> {
    let found: string | undefined
    for (let count = 0; count < LIMITS.acmeAliasesMax; count++) {
      const [next] = await resolver.cname(found ?? name).catch(() => [])
      if (next === undefined) return found
      found = next.toLowerCase().replace(/\.$/, '')
    }
    return found
  }

  /** Asked for what nobody has asked for, and no cache can have. */
  async function isAnswered({ name }: DnsZone): Promise<boolean> {
    const nonce = randomBytes(16).toString('hex')
    const texts = await resolver.txt(`${checkLabel(nonce)}.${name}`).catch(() => [])
    return texts.some((parts) => parts.join('') === checkAnswer(nonce, thumbprint))
  }

  /** Which of these names is proven by our zone, and what to change. */
  async function findByDns(zone: DnsZone, row: AcmeOrder): Promise<DnsWay | NoWay> {
    const owner = await ownerOf(store, row.tenantId)
    const records = owner === undefined ? [] : recordsOf(zone, thumbprint, owner, row.hostname)
    const found = await Promise.all(records.map(({ name }) => aliasOf(name)))
    const at = records.findIndex(({ target }, place) => found[place] === target)
    const [first] = records
    if (at === -1 || first === undefined) {
      const [wrong] = found
      const isOfAnother = wrong?.endsWith(`.${zone.name}`) === true
      const obstacle = isOfAnother
        ? `The CNAME record ${first?.name} leads to ${wrong}, which is not of this hostname. Change it to ${first?.target}.`
        : `Add a CNAME record named ${first?.name} that points to ${first?.target}.`
      return { kind: 'none', obstacle }
    }
    const { covers: identifier, label } = records[at]!
    if (await isAnswered(zone)) return { kind: 'dns', identifier, label }
    const obstacle = `The CNAME record is there, but the zone ${zone.name} is not answered by the control planes. Its parent needs NS records for ${zone.servers.join(' and ')}, where port 53 leads to control_plane.acme.dns.listen, over UDP and TCP and for everyone.`
    return { kind: 'none', obstacle }
  }

  return {
    async find(row: AcmeOrder): Promise<Way> {
      const { hostname } = row
      const byDns = zone && (await findByDns(zone, row))
      if (byDns?.kind === 'dns') return byDns
      if (isWildcard(hostname)) return byDns ?? { kind: 'none', obstacle: NO_ZONE }
      const obstacle = await preflight(hostname)
      if (obstacle === undefined) return { kind: 'http' }
      return {
        kind: 'none',
        obstacle: byDns ? `${obstacle} Or prove it by DNS. ${byDns.obstacle}` : obstacle,
      }
    },
    close: () => resolver.close?.(),
  }
}

const NO_ZONE = 'A wildcard is proven by DNS alone: set control_plane.acme.dns.'

type Owner = Parameters<typeof labelOf>[1]

async function ownerOf(
  { read }: Pick<Store, 'read'>,
  tenantId: string,
): Promise<Owner | undefined> {
  return isReserved(tenantId) ? 'own' : numberOf(read, tenantId)
}

/** Those by which this hostname can have a certificate, its own before that of the name above. */
export function recordsOf(zone: DnsZone, thumbprint: string, owner: Owner, hostname: string) {
  const recordOf = (domain: string, covers: string) => {
    const label = labelOf(thumbprint, owner, domain)
    return { name: `_acme-challenge.${domain}`, target: `${label}.${zone.name}`, covers, label }
  }
  const above = parentOf(hostname)
  if (isWildcard(hostname)) return [recordOf(above, hostname)]
  const own = recordOf(hostname, hostname)
  // nobody is given a certificate for all names of a top-level domain
  if (!above.includes('.') || owner === 'own') return [own]
  return [own, recordOf(above, `*.${above}`)]
}

export const isWildcard = (name: string): boolean => name.startsWith('*.')
export const parentOf = (hostname: string): string => hostname.slice(hostname.indexOf('.') + 1)

export function createResolver(): DnsResolver {
  const timeout = Math.ceil(LIMITS.acmePreflightMsMax / 4)
  const resolver = new Resolver({ timeout, tries: 2 })
  return {
    cname: (name) => resolver.resolveCname(name),
    txt: (name) => resolver.resolveTxt(name),
    close: () => resolver.cancel(),
  }
}
