/**
 * A sign-in without a key to paste (RFC 8628): the service gives a code, somebody who may allows it
 * in the console, and the key is handed out to whoever has asked. What the service says goes to the
 * screen with nothing hidden in it, and leads nowhere but to the service itself.
 */
import { hostname } from 'node:os'
import { basename } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Api, DeviceCode, HandedOut } from '../api.ts'
import { EXIT, Problem } from '../../command-line/exit.ts'
import { notTheService } from '../service-client.ts'
import type { Environment } from '../../command-line/base-url.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { openInBrowser } from './open-browser.ts'

interface SignInWorld {
  /** Without a key. */
  readonly api: Api
  readonly baseUrl: string
  /** Of the application: its name is shown to whoever allows it. */
  readonly folder: string
  readonly terminal: Pick<Terminal, 'remark' | 'during'>
  readonly environment: Environment
  readonly wantsBrowser: boolean
  readonly nowMs: () => number
  /** Is told the secrets before anything else is done with them. */
  readonly hide: (secret: string) => void
}

/** Somebody may have gone for a coffee. */
const CODES_MAX = 3
const SLOW_DOWN_SECONDS = 2
const FAILURES_MAX = 5

export async function signInByCode(world: SignInWorld): Promise<HandedOut> {
  for (let codes = 1; codes <= CODES_MAX; codes++) {
    const code = await world.api.deviceCode({
      machine: nameOf(hostname()),
      application: nameOf(basename(world.folder)),
    })
    show(world, code)
    const handedOut = await world.terminal.during(
      'Waiting for you to allow it in the browser',
      () => poll(world, code),
    )
    if (handedOut !== null) {
      for (const secret of [handedOut.analyzer_key, handedOut.client_secret])
        if (secret !== undefined) world.hide(secret)
      return handedOut
    }
    world.terminal.remark('The code expired. Here is a new one:')
  }
  throw new Problem(
    'sign_in_expired',
    'The request was not allowed in time.',
    'To try again: service-analyzer login',
  )
}

function show(
  world: SignInWorld,
  { user_code: code, verification_uri_complete: page }: DeviceCode,
) {
  const { terminal, baseUrl, wantsBrowser, environment } = world
  if (!isBelow(baseUrl, page)) throw notTheService(baseUrl, 'points to a page elsewhere')
  const isOpened = wantsBrowser && openInBrowser(page, process.platform, environment)
  terminal.remark(
    isOpened
      ? 'To sign in, allow the request in your browser. If it does not open, go to:'
      : 'To sign in, open this page in a browser:',
  )
  terminal.remark(`  ${page}`)
  terminal.remark(`Check that it shows this code: ${code}`)
}

/** The very service that was configured, whatever it says of itself. */
export function isBelow(baseUrl: string, page: string): boolean {
  const base = new URL(baseUrl)
  const url = URL.canParse(page) ? new URL(page) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return false
  const folder = `${base.pathname.replace(/\/$/, '')}/`
  return url.origin === base.origin && url.pathname.startsWith(folder) && url.username === ''
}

/** null: it has expired. */
async function poll({ api, nowMs }: SignInWorld, code: DeviceCode): Promise<HandedOut | null> {
  const endsAtMs = nowMs() + code.expires_in * 1000
  let seconds = code.interval
  let failures = 0
  while (nowMs() < endsAtMs) {
    await wait(seconds * 1000)
    const answer = await api.deviceToken(code.device_code).catch((error: unknown) => {
      const isPassing = error instanceof Problem && error.exit === EXIT.unavailable
      if (!isPassing || ++failures >= FAILURES_MAX) throw error
      return { pending: 'slow_down' as const }
    })
    if ('handedOut' in answer) return answer.handedOut
    switch (answer.pending) {
      case 'authorization_pending':
        failures = 0
        break
      case 'slow_down':
        seconds += SLOW_DOWN_SECONDS
        break
      case 'access_denied':
        throw new Problem(
          'sign_in_denied',
          'The request was denied in the console.',
          'If that was a mistake: service-analyzer login',
        )
      case 'expired_token':
        return null
    }
  }
  return null
}

/** As the service takes it: what cannot be printed is nobody's name. */
function nameOf(name: string): string {
  return name
    .replaceAll(/[^\p{L}\p{N} ._@+-]/gu, '')
    .trim()
    .slice(0, 64)
}
