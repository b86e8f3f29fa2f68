/** Until the application runs with the middleware in it: a person starts it, and is told what is seen. */
import { setTimeout as wait } from 'node:timers/promises'
import { isThisMachine } from '../../../../../shared/hosts.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import type { Api, Facts, VerificationAnswer } from '../../api.ts'
import type { Application } from '../../detection/application.ts'
import { Problem } from '../../../command-line/exit.ts'
import type { Task } from '../command.ts'

/** guarded: the middleware answers there; keyless: it does, without keys; open: something else does. */
type Sight = 'guarded' | 'keyless' | 'open' | 'nothing'

interface Started {
  /** null: the service has seen it, and nobody here has. */
  readonly port: number | null
}

interface WaitingFor {
  readonly facts: Facts
  readonly application: Application
  readonly api: Pick<Api, 'probe'>
  /** `npm start` */
  readonly start: string
}

/** The service is asked seldom: it sends a dozen probes each time. */
const LOOKS_PER_PROBE = 20
const FIRST_PROBE_LOOK = 5
const TIMEOUT_MS = 3000

export async function waitForStart(task: Task, waiting: WaitingFor): Promise<Started> {
  const ports = portsOf(task, waiting)
  const endsAtMs = task.world.nowMs() + LIMITS.setupWaitMsMax
  const first = await lookAtAll(task, ports, waiting)
  if (first !== null) return first
  return task.terminal.during('Waiting', async (tell) => {
    for (let looks = 1; task.world.nowMs() < endsAtMs; looks++) {
      const sights = await Promise.all(
        ports.map((port) => sightAt(task, port, waiting.facts.health)),
      )
      const port = ports.find((_, index) => sights[index] === 'guarded')
      if (port !== undefined) return { port }
      tell(whatIsSeen(ports, sights, waiting))
      const isTurn = looks % LOOKS_PER_PROBE === FIRST_PROBE_LOOK
      if (isTurn && (await isSeenOutside(waiting.api))) return { port: null }
      await wait(LIMITS.setupLookMs)
    }
    throw new Problem(
      'not_started',
      'The application does not run with the middleware yet.',
      `Start it (${waiting.start}), then run: service-analyzer setup`,
    )
  })
}

async function lookAtAll(
  task: Task,
  ports: readonly number[],
  { facts }: WaitingFor,
): Promise<Started | null> {
  for (const port of ports)
    if ((await sightAt(task, port, facts.health)) === 'guarded') return { port }
  return null
}

/** Where the code says that it listens, and where the service sends requests. */
function portsOf({ given, world }: Task, { application, facts }: WaitingFor): number[] {
  if (given.port !== null) return [given.port]
  const set = Number(world.environment['PORT'])
  const own = Number.isInteger(set) && set > 0 && set < 65_536 ? set : application.port
  return [...new Set([own, originPort(facts)])].filter((port) => port !== null)
}

function originPort({ mode, origin }: Pick<Facts, 'mode' | 'origin'>): number | null {
  // in connector mode it is only a name: the connector knows the address
  if (mode === 'connector') return null
  const url = URL.canParse(origin) ? new URL(origin) : null
  if (url === null || !isThisMachine(url.hostname)) return null
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
}

/** A probe that nobody has signed: the middleware refuses it in a way that nothing else does. */
async function sightAt({ world }: Task, port: number, path: string): Promise<Sight> {
  for (const host of ['127.0.0.1', '[::1]']) {
    try {
      const answer = await world.fetch(`http://${host}:${port}${path}`, {
        headers: { 'user-agent': 'service-analyzer', 'x-service-probe': 'setup' },
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const isKeyless = answer.status === 503 && (await saysKeyless(answer))
      if (!isKeyless) await answer.body?.cancel()
      if (answer.headers.has('x-service-probe-reply')) return 'guarded'
      return isKeyless ? 'keyless' : 'open'
    } catch {
      // the other one
    }
  }
  return 'nothing'
}

/** What the middleware answers to everything while it has no public key. */
async function saysKeyless(answer: Response): Promise<boolean> {
  const isJson = (answer.headers.get('content-type') ?? '').startsWith('application/json')
  const body: unknown = isJson ? await answer.json().catch(() => null) : null
  return (body as { error?: unknown } | null)?.error === 'keys_unavailable'
}

export function whatIsSeen(
  ports: readonly number[],
  sights: readonly Sight[],
  { start, facts }: Pick<WaitingFor, 'start' | 'facts'>,
): string {
  const open = ports.find((_, index) => sights[index] === 'open')
  const keyless = ports.find((_, index) => sights[index] === 'keyless')
  if (keyless !== undefined)
    return `port ${keyless} has the middleware, but no public keys: see what ${start} prints`
  const forwarded = facts.mode === 'sdk' ? null : originPort(facts)
  if (open !== undefined) return `port ${open} runs without the middleware: restart it (${start})`
  const [own] = ports
  if (own === undefined) return `run ${start}; if it runs here, add --port`
  if (forwarded !== null && forwarded !== own)
    return `nothing listens on port ${own} or ${forwarded}, where the service forwards to: run ${start}`
  return `nothing listens on port ${own} yet: run ${start}`
}

async function isSeenOutside(api: Pick<Api, 'probe'>): Promise<boolean> {
  const answer = await api.probe().catch(() => null)
  return answer !== null && 'done' in answer && isMounted(answer.done)
}

function isMounted({ checks }: VerificationAnswer): boolean {
  return checks.some(
    ({ check, status, source }) =>
      check === 'middleware_mounted' && status === 'pass' && source === 'platform',
  )
}
