/**
 * What the decision needs of one request, read once from its raw lines. Node's parser lets pass what
 * the edge refuses, so the same is refused here: two Hosts, a target that no browser sends, an
 * absolute target that disagrees with Host.
 */
import type { BadRequest } from '../../../../shared/enforcement/bad-requests.ts'
import {
  SERVICE_ID_HEADER,
  SERVICE_SECRET_HEADER,
} from '../../../../shared/enforcement/foreign-headers.ts'
import type { NavigationFacts } from '../../../../shared/enforcement/navigation.ts'
import type { MachineCredentials } from '../../../../shared/enforcement/machines.ts'
import { hostOfAuthority } from '../../../../shared/hosts.ts'
import type { GuardedRequest } from '../guard.ts'
import { isTargetProblem, readTarget } from '../target.ts'

export interface RequestFacts extends NavigationFacts {
  readonly secFetchSite: string
  readonly target: string
  readonly host: string
  readonly cookies: string
  readonly userAgent: string
  readonly forwardedFor: string
  readonly probe: string
  readonly authority: string
  readonly origins: readonly string[]
  /** Undefined: it brought nothing that a machine would. */
  readonly machine: MachineCredentials | undefined
  /** All of its lines, joined; '' without any. */
  readonly authorization: string
  readonly rawHeaders: readonly string[]
}

/** Header names in lower case; no other line matters to the decision. */
const READ = {
  host: 1,
  cookie: 2,
  accept: 3,
  'sec-fetch-mode': 4,
  'sec-fetch-site': 5,
  'x-requested-with': 6,
  'user-agent': 7,
  'x-forwarded-for': 8,
  'x-service-probe': 9,
  upgrade: 10,
  origin: 11,
  authorization: 12,
  [SERVICE_ID_HEADER]: 13,
  [SERVICE_SECRET_HEADER]: 14,
} as const
const FIELDS: ReadonlyMap<string, number> = new Map(Object.entries(READ))
/** As the usual senders spell them, so that most lines need not be folded. Learns, within bounds. */
const spellings = new Map<string, number>()
const SPELLINGS_MAX = 500

function fieldOf(name: string): number {
  const known = spellings.get(name)
  if (known !== undefined) return known
  const field = FIELDS.get(name.toLowerCase()) ?? 0
  if (spellings.size < SPELLINGS_MAX && name.length <= 40) spellings.set(name, field)
  return field
}

/** The facts, or what is wrong with the request. */
export function readFacts({
  method,
  target,
  rawHeaders,
}: GuardedRequest): RequestFacts | BadRequest {
  const values: (string | undefined)[] = []
  const origins: string[] = []
  let hosts = 0
  let probes = 0
  let machine: { ids: string[]; secrets: string[] } | undefined
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const field = fieldOf(rawHeaders[at]!)
    if (field === 0) continue
    const value = rawHeaders[at + 1]!
    const before = values[field]
    if (field === READ.host) hosts++
    if (field === READ.origin) origins.push(value)
    if (field === READ['x-service-probe']) probes++
    if (field >= READ[SERVICE_ID_HEADER]) {
      machine ??= { ids: [], secrets: [] }
      const values = field === READ[SERVICE_ID_HEADER] ? machine.ids : machine.secrets
      values.push(value)
      continue
    }
    const separator = field === READ.cookie ? '; ' : ', '
    values[field] = before === undefined ? value : before + separator + value
  }
  const authority = values[READ.host] ?? ''
  if (hosts !== 1) return 'host'
  const host = hostOfAuthority(authority)
  if (host === undefined) return 'host'
  const decided = readTarget(target, method, authority)
  if (isTargetProblem(decided)) return decided
  return {
    method,
    target: decided,
    authority,
    origins,
    machine,
    authorization: (values[READ.authorization] ?? '').replace(/^(?:, )+/, ''),
    rawHeaders,
    host,
    cookies: values[READ.cookie] ?? '',
    accept: values[READ.accept] ?? '',
    secFetchMode: values[READ['sec-fetch-mode']] ?? '',
    secFetchSite: values[READ['sec-fetch-site']] ?? '',
    requestedWith: values[READ['x-requested-with']] ?? '',
    userAgent: values[READ['user-agent']] ?? '',
    forwardedFor: values[READ['x-forwarded-for']] ?? '',
    probe: probes === 1 ? (values[READ['x-service-probe']] ?? '') : '',
    isUpgrade: /\bwebsocket\b/i.test(values[READ.upgrade] ?? ''),
  }
}

/** The values of all lines of one name, given in lower case. */
export function valuesOf(
  { rawHeaders }: Pick<RequestFacts, 'rawHeaders'>,
  name: string,
): readonly string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name)
}
