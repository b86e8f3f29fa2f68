/**
 * Polls the enforcement state. Whatever goes wrong, the last state that was heard stays in force: a
 * 401 is a refusal, never "nothing to enforce".
 */
import * as v from 'valibot'
import { readBounded } from '../../../../shared/bounded-text.ts'
import { SECOND_MS } from '../../../../shared/clock.ts'
import { FEATURES_TEXT } from '../../../../shared/fleet/features.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { VERSION } from '../../../../shared/version.ts'
import type { EnforceSettings } from './options.ts'
import type { Credentials } from './credentials.ts'
import type { ServiceClock } from './service-clock.ts'
import { RevokedPartSchema, StateSchema, type RevokedPart, type State } from './state.ts'

interface FeedWorld {
  readonly settings: EnforceSettings
  readonly credentials: Credentials
  readonly clock: ServiceClock
  /** Before the state itself, and whatever becomes of that. */
  onRevoked(part: RevokedPart): void
  /** Throws for a state that cannot be enforced. */
  onState(state: State): void
  /** The state has been confirmed. */
  onContact(): void
  readonly random: () => number
}

const PATH = '/api/v1/enforcement/state'
const POLL_SECONDS_MAX = 300
/** After a failure: soon, then less and less often, never less than this. */
const RETRY_MS_MAX = 15 * SECOND_MS
const TIMEOUT_MS = 10 * SECOND_MS

export function createFeed(world: FeedWorld) {
  const { settings, credentials, clock } = world
  const { nowMs, steadyMs } = settings
  const warn = (text: string) => settings.onWarning(`service-node: ${text}`)
  let etag: string | undefined
  let pollSeconds = 1
  let failures = 0
  let heardMs = -Infinity
  let timer: NodeJS.Timeout | undefined
  const closing = new AbortController()

  async function poll(): Promise<void> {
    const sentMs = nowMs()
    const answer = await credentials.fetch(PATH, {
      headers: {
        accept: 'application/json',
        'x-service-sdk-version': VERSION,
        'x-service-features': FEATURES_TEXT,
        'x-service-clock-offset': String(clock.offsetMs()),
        ...(etag === undefined ? {} : { 'if-none-match': etag }),
      },
      signal: AbortSignal.any([closing.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    const receivedMs = nowMs()
    // only of the service itself: whatever stands in between answers errors with a Date of its own
    const observeClock = () => clock.observe(answer.headers.get('date'), sentMs, receivedMs)
    if (answer.status === 304 && etag !== undefined) return observeClock()
    if (answer.status !== 200) {
      await answer.body?.cancel()
      throw new Error(explain(answer.status))
    }
    const text = await readBounded(answer, LIMITS.enforcementStateBytesMax)
    const content: unknown = JSON.parse(text)
    // what is revoked counts even where the rest of a state cannot be read
    world.onRevoked(parse(RevokedPartSchema, content))
    const state = parse(StateSchema, content)
    world.onState(state)
    observeClock()
    etag = answer.headers.get('etag') ?? undefined
    pollSeconds = Math.min(POLL_SECONDS_MAX, Math.max(1, state.poll_after))
  }

  async function round(): Promise<void> {
    try {
      await poll()
      heardMs = steadyMs()
      if (failures > 0) warn('the service is reachable again')
      failures = 0
      world.onContact()
    } catch (error) {
      failures++
      if (failures === 1 && !closing.signal.aborted)
        warn(`${reasonOf(error)}; the last known state stays in force`)
    }
    if (!closing.signal.aborted) timer = setTimeout(() => void round(), delayMs()).unref()
  }

  /** Never later than the service asks for; a little earlier, so that a fleet does not march. */
  function delayMs(): number {
    const spread = 1 - world.random() / 10
    if (failures === 0) return pollSeconds * SECOND_MS * spread
    return Math.min(RETRY_MS_MAX, SECOND_MS * 2 ** Math.min(failures - 1, 10)) * spread
  }

  void round()
  return {
    /** When the service last confirmed the state that is in force; by the steady clock. */
    heardMs: () => heardMs,
    close() {
      closing.abort()
      clearTimeout(timer)
    },
  }
}

function parse<Part>(schema: v.GenericSchema<unknown, Part>, content: unknown): Part {
  const result = v.safeParse(schema, content, { abortEarly: true })
  if (result.success) return result.output
  const [issue] = result.issues
  throw new Error(`the enforcement state is invalid at ${v.getDotPath(issue) ?? 'its root'}`)
}

function explain(status: number): string {
  if (status === 401)
    return 'the client secret was refused (401); set SERVICE_CLIENT_SECRET to the current one'
  if (status === 409) return 'the tenant is not in sdk mode (409)'
  return `the service answered ${status}`
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the service cannot be reached'
  const { cause } = error
  const code = cause instanceof Error ? ((cause as { code?: string }).code ?? cause.message) : ''
  return code === '' ? error.message : `the service cannot be reached (${code})`
}
